{{- define "wts.name" -}}
{{- default .Chart.Name .Values.nameOverride -}}
{{- end -}}

{{/* At most 40 characters, so that <fullname>-webhook-dispatcher-metrics is a name. */}}
{{- define "wts.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" (.Release.Name | trunc 36 | trimSuffix "-") .Chart.Name -}}
{{- end -}}
{{- end -}}

{{/* The version of the service: (dict root, service). A digest alone says nothing, so appVersion it is. */}}
{{- define "wts.tag" -}}
{{- .service.image.tag | default .root.Values.image.tag | default .root.Chart.AppVersion -}}
{{- end -}}

{{- define "wts.image" -}}
{{- $image := .root.Values.image -}}
{{- $registry := .service.image.registry | default .root.Values.global.imageRegistry | default $image.registry -}}
{{- $name := .service.image.repository | default (printf "%s%s" $image.prefix .row.name) -}}
{{- if $registry }}{{ trimSuffix "/" $registry }}/{{ end }}{{ $name }}
{{- if .service.image.digest }}@{{ .service.image.digest }}{{ else }}:{{ include "wts.tag" . }}{{ end -}}
{{- end -}}

{{- define "wts.pullSecrets" -}}
{{- $names := concat .Values.global.imagePullSecrets .Values.image.pullSecrets | uniq -}}
{{- if $names }}
imagePullSecrets:
{{- range $names }}
  - name: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* (dict root, component). These never change, because the selector of a Deployment cannot. */}}
{{- define "wts.selector" -}}
app.kubernetes.io/name: {{ include "wts.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* Labels of pods besides their selector. */}}
{{- define "wts.podLabels" -}}
{{- $cell := dict -}}
{{- with .Values.cell.name }}{{ $_ := set $cell "wts/cell" . }}{{ end -}}
{{- toYaml (merge $cell .Values.commonLabels) -}}
{{- end -}}

{{/* (dict root, component, labels) */}}
{{- define "wts.labels" -}}
{{- $labels := dict "helm.sh/chart" (printf "%s-%s" .root.Chart.Name (.root.Chart.Version | replace "+" "_")) "app.kubernetes.io/managed-by" .root.Release.Service "app.kubernetes.io/part-of" "workspace-task-service" "app.kubernetes.io/version" (.root.Values.image.tag | default .root.Chart.AppVersion | trunc 63) -}}
{{- $own := include "wts.selector" . | fromYaml -}}
{{- toYaml (merge $own (.labels | default dict) .root.Values.commonLabels $labels) -}}
{{- end -}}

{{/* The metadata of an object: (dict root, name, component, labels, annotations). */}}
{{- define "wts.metadata" -}}
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels: {{- include "wts.labels" . | nindent 4 }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
{{- end }}
{{- end -}}
