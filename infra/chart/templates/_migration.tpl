{{/* One schema after the other, in the order of the rows: all but the last are init containers. */}}
{{- define "wts.migrationPod" -}}
metadata:
  labels: {{- toYaml (merge (include "wts.selector" (dict "root" .root "component" "migrate") | fromYaml) .root.Values.commonLabels) | nindent 4 }}
spec:
  {{- include "wts.podBase" (dict "root" .root "serviceAccountName" .root.Values.migrations.serviceAccountName) | nindent 2 }}
  restartPolicy: OnFailure
  securityContext: {{- toYaml .root.Values.defaults.podSecurityContext | nindent 4 }}
  {{- include "wts.placement" (dict "service" .root.Values.defaults) | nindent 2 }}
{{- with initial .containers }}
  initContainers: {{- toYaml . | nindent 4 }}
{{- end }}
  containers: {{- toYaml (list (last .containers)) | nindent 4 }}
  volumes: {{- include "wts.volumes" (dict "root" .root "row" .row "service" dict) | nindent 4 }}
{{- end -}}

{{- define "wts.migrationContainer" -}}
{{- $database := .root.Values.database -}}
name: {{ .row.name }}
image: {{ include "wts.image" . | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: [migrate]
securityContext: {{- toYaml .service.containerSecurityContext | nindent 2 }}
env:
{{- include "wts.databaseEnv" (merge (dict "variable" "DATABASE_URL" "host" $database.host) .) | nindent 2 }}
{{- if or $database.migrationHost (not $database.host) }}
{{- include "wts.urlEnv" (merge (dict "variable" "MIGRATION_DATABASE_URL" "host" $database.migrationHost) .) | nindent 2 }}
{{- end }}
{{- include "wts.secretEnv" (merge (dict "variable" "DATABASE_OTHER_PASSWORD") .) | nindent 2 }}
{{- if or .root.Values.extraCa.configMap .root.Values.extraCa.existingSecret }}
  - name: NODE_EXTRA_CA_CERTS
    value: /etc/wts/ca/{{ .root.Values.extraCa.key }}
{{- end }}
{{- with .service.extraEnv }}
{{ toYaml . | indent 2 }}
{{- end }}
{{- with .service.envFrom }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
resources: {{- toYaml .root.Values.migrations.resources | nindent 2 }}
volumeMounts: {{- include "wts.volumeMounts" (dict "root" .root "service" dict) | nindent 2 }}
{{- end -}}
