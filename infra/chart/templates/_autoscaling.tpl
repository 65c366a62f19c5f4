{{/* A trigger of KEDA by its word: (dict trigger, root, row, service, name). */}}
{{- define "wts.trigger" -}}
{{- $keda := .root.Values.keda -}}
{{- $scope := printf "namespace=%q, service=%q" .root.Release.Namespace .row.name -}}
{{- if eq .trigger "sockets" -}}
{{- $metric := ternary "wts_http_connections" "wts_socket_connections" (eq .row.name "gateway") -}}
{{ include "wts.prometheusTrigger" (dict "keda" $keda "query" (printf "sum(%s{%s})" $metric $scope) "threshold" $keda.socketsPerReplica) }}
{{- else if eq .trigger "webhookLag" -}}
{{ include "wts.prometheusTrigger" (dict "keda" $keda "query" (printf "max(wts_webhooks_oldest_due_seconds{%s})" $scope) "threshold" $keda.webhookLagSeconds) }}
{{- else if eq .trigger "deliveries" -}}
- type: postgresql
  metricType: AverageValue
  authenticationRef: { name: {{ .name }} }
  metadata:
    query: "select count(*) from webhooks.deliveries where status = 'pending' and attempt_count = 0"
    targetQueryValue: {{ int64 $keda.deliveriesPerReplica | quote }}
{{- with .root.Values.database }}
{{- if .host }}
    host: {{ .host | quote }}
    port: {{ int .port | quote }}
    dbName: {{ .name | quote }}
    userName: {{ $.row.database.role }}
    sslmode: {{ $keda.postgresSslMode }}
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{- define "wts.prometheusTrigger" -}}
- type: prometheus
  metricType: AverageValue
  metadata:
    serverAddress: {{ .keda.prometheusUrl | quote }}
    query: {{ .query | quote }}
    threshold: {{ int64 .threshold | quote }}
    # Without a value the trigger fails, which keeps the replicas; zero would remove them.
    ignoreNullValues: "false"
{{- end -}}
