{{/* Environment of a service: (dict root, row, service, services). Variables come before those that use them as $(NAME). */}}
{{- define "wts.env" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
{{- $service := .service -}}
{{- $isGateway := eq .row.name "gateway" -}}
- name: HOST
  value: {{ $values.host | quote }}
- name: PORT
  value: {{ ternary "4000" "8080" $isGateway | quote }}
{{- if $isGateway }}
- name: AUTH_PORT
  value: "4001"
{{- end }}
- name: METRICS_PORT
  value: "9090"
- name: SHUTDOWN_DELAY_MS
  value: {{ int64 $service.shutdown.delayMs | quote }}
- name: SHUTDOWN_GRACE_MS
  value: {{ int64 $service.shutdown.graceMs | quote }}
{{- with $service.heapMb }}
- name: NODE_OPTIONS
  value: "--max-old-space-size={{ int . }}"
{{- end }}
{{- $shared := dict "BASE_URL" $values.baseUrl "AUTH_URL" $values.authUrl "API_KEY_PREFIX" $values.apiKeyPrefix }}
{{- if or $values.cell.shard $values.cells }}
{{- $_ := set $shared "SHARD" (int $values.cell.shard) }}
{{- end }}
{{- range $variable, $value := $shared }}
{{- if has $variable $.row.shared }}
- name: {{ $variable }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- range $called := .row.addresses }}
- name: {{ printf "%s_SERVICE_URL" ($called | upper | replace "-" "_") }}
  value: {{ include "wts.url" (dict "root" $root "name" $called "services" $.services) | quote }}
{{- end }}
{{- if eq .row.name "sync" }}
- name: STREAM_REPLICAS
  value: {{ int $values.nats.streamReplicas | quote }}
{{- end }}
{{- include "wts.databaseEnv" (merge (dict "variable" "DATABASE_URL" "host" $values.database.host) .) }}
{{- if and .row.hasReplica (or $values.database.replicaHost (not $values.database.host)) }}
{{- include "wts.urlEnv" (merge (dict "variable" "DATABASE_REPLICA_URL" "host" $values.database.replicaHost) .) }}
{{- end }}
{{- if .row.natsPasswordKey }}
{{- if $values.nats.servers }}
{{- include "wts.secretEnv" (merge (dict "variable" "NATS_PASSWORD" "key" .row.natsPasswordKey "required" true) .) }}
{{- $urls := list -}}
{{- range $values.nats.servers }}
{{- $urls = append $urls (printf "%s://wts_%s:$(NATS_PASSWORD)@%s" (splitList "://" . | first) $.row.name (splitList "://" . | last)) -}}
{{- end }}
- name: NATS_URL
  value: {{ join "," $urls | quote }}
{{- else }}
{{- include "wts.secretEnv" (merge (dict "variable" "NATS_URL") .) }}
{{- end }}
{{- end }}
{{- if and .row.isGlobal $values.cells }}
{{- include "wts.cellsEnv" . }}
{{- end }}
{{- range .row.secrets }}
{{- if not (has .variable (list "DATABASE_URL" "MIGRATION_DATABASE_URL" "DATABASE_REPLICA_URL" "NATS_URL")) }}
{{- include "wts.secretEnv" (merge (dict "variable" .variable) $) }}
{{- end }}
{{- end }}
{{- if or $values.extraCa.configMap $values.extraCa.existingSecret }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/wts/ca/{{ $values.extraCa.key }}
{{- end }}
{{- range $variable, $value := $service.settings | default dict }}
- name: {{ $variable }}
  value: {{ include "wts.text" $value | quote }}
{{- end }}
{{- with $values.telemetry.endpoint }}
{{- include "wts.telemetryEnv" $ }}
{{- end }}
{{- with $service.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* CELLS: this cell, whose NATS_URL is above, and the others. */}}
{{- define "wts.cellsEnv" -}}
{{- $urls := dict -}}
{{- range $name := list "sync" "workspace" "webhook-dispatcher" -}}
{{- $_ := set $urls $name (list (include "wts.url" (dict "root" $.root "name" $name "services" $.services))) -}}
{{- end -}}
{{- $cells := list (dict "shard" (int .root.Values.cell.shard) "baseUrl" .root.Values.baseUrl "syncUrls" (index $urls "sync") "workspaceUrls" (index $urls "workspace") "dispatcherUrls" (index $urls "webhook-dispatcher") "natsUrl" "$(NATS_URL)") -}}
{{- range .root.Values.cells }}
{{- $variable := printf "CELL_%d_NATS_URL" (int .shard) }}
- name: {{ $variable }}
  valueFrom:
    secretKeyRef:
      name: {{ .natsUrl.existingSecret | quote }}
      key: {{ .natsUrl.key | quote }}
{{- $cells = append $cells (dict "shard" (int .shard) "baseUrl" .baseUrl "syncUrls" (list .syncUrl) "workspaceUrls" (list .workspaceUrl) "dispatcherUrls" (list .dispatcherUrl) "natsUrl" (printf "$(%s)" $variable)) }}
{{- end }}
- name: CELLS
  value: {{ toJson $cells | quote }}
{{- end -}}

{{/* PostgreSQL: (dict variable, host, and what wts.env has). With a host, the URL has no password: the driver reads PGPASSWORD. */}}
{{- define "wts.databaseEnv" -}}
{{- if .row.database }}
{{- if .host }}
{{- include "wts.secretEnv" (merge (dict "variable" "PGPASSWORD" "key" (printf "%s_PGPASSWORD" (.row.name | upper | replace "-" "_")) "required" true) .) }}
{{- end }}
{{- include "wts.urlEnv" . }}
{{- end }}
{{- end -}}

{{- define "wts.urlEnv" -}}
{{- $database := .root.Values.database -}}
{{- if .host }}
- name: {{ .variable }}
  value: {{ printf "postgres://%s@%s:%d/%s%s" .row.database.role .host (int $database.port) $database.name (ternary (printf "?%s" $database.parameters) "" (ne $database.parameters "")) | quote }}
{{- else }}
{{- include "wts.secretEnv" . }}
{{- end }}
{{- end -}}

{{/*
A variable with a secret: (dict variable, and what wts.env has; key and required for those that no setting is). One that the service
can do without, and that the values do not name, may be missing in the Secret.
*/}}
{{- define "wts.secretEnv" -}}
{{- $variable := .variable -}}
{{- $key := .key -}}
{{- $required := .required -}}
{{- range .row.secrets }}
{{- if eq .variable $variable }}
{{- $key = .key }}
{{- $required = .required }}
{{- end }}
{{- end }}
{{- $own := index (.service.secrets | default dict) $variable | default dict }}
- name: {{ $variable }}
  valueFrom:
    secretKeyRef:
      name: {{ $own.existingSecret | default .service.existingSecret | default .root.Values.secrets.existingSecret | quote }}
      key: {{ $own.key | default $key | quote }}
{{- if not (or $required $own) }}
      optional: true
{{- end }}
{{- end -}}

{{/* Resource attributes by the downward API, as the semantic conventions for Kubernetes name them. */}}
{{- define "wts.telemetryEnv" }}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_UID
  valueFrom: { fieldRef: { fieldPath: metadata.uid } }
- name: NODE_NAME
  valueFrom: { fieldRef: { fieldPath: spec.nodeName } }
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .root.Values.telemetry.endpoint | quote }}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: {{ include "wts.resourceAttributes" . | quote }}
{{- end -}}

{{- define "wts.resourceAttributes" -}}
k8s.namespace.name={{ .root.Release.Namespace }},k8s.deployment.name={{ include "wts.fullname" .root }}-{{ .row.name }},k8s.pod.name=$(POD_NAME),k8s.pod.uid=$(POD_UID),k8s.node.name=$(NODE_NAME)
{{- with .root.Values.cell.name }},wts.cell={{ . }}{{ end -}}
{{- range $name, $value := .root.Values.telemetry.resourceAttributes }},{{ $name }}={{ $value }}{{ end -}}
{{- end -}}
