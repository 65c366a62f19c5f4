{{/* Requests and limits: the measured memory, and twice as much as the limit. A CPU limit would slow down sync and gateway for others' sake. */}}
{{- define "wts.resources" -}}
{{- if .service.resources -}}
{{- toYaml .service.resources -}}
{{- else -}}
{{- $limits := dict "memory" (printf "%dMi" (mul 2 (int .row.memoryMb))) -}}
{{- if not (has .row.name (list "sync" "gateway")) }}{{ $_ := set $limits "cpu" "2" }}{{ end -}}
{{- toYaml (dict "requests" (dict "cpu" "200m" "memory" (printf "%dMi" (int .row.memoryMb))) "limits" $limits) -}}
{{- end -}}
{{- end -}}

{{/* Delay and drain, then 5 s to close the stores and as much for whatever is slow. */}}
{{- define "wts.terminationGraceSeconds" -}}
{{- add 10 (div (add (int64 .service.shutdown.delayMs) (int64 .service.shutdown.graceMs) 999) 1000) -}}
{{- end -}}

{{/* What the pods of services, of the migration and of the test have in common: (dict root, serviceAccountName). */}}
{{- define "wts.podBase" -}}
serviceAccountName: {{ .serviceAccountName | quote }}
automountServiceAccountToken: false
# Otherwise Kubernetes would set AUTH_PORT=tcp://... and the like.
enableServiceLinks: false
{{- include "wts.pullSecrets" .root }}
{{- end -}}

{{- define "wts.volumes" -}}
{{- $ca := .root.Values.extraCa -}}
- name: tmp
  emptyDir: { sizeLimit: {{ int .row.temporaryMb }}Mi }
{{- if or $ca.configMap $ca.existingSecret }}
- name: ca
{{- if $ca.existingSecret }}
  secret: { secretName: {{ $ca.existingSecret | quote }} }
{{- else }}
  configMap: { name: {{ $ca.configMap | quote }} }
{{- end }}
{{- end }}
{{- with .service.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "wts.volumeMounts" -}}
{{- $ca := .root.Values.extraCa -}}
- { name: tmp, mountPath: /tmp }
{{- if or $ca.configMap $ca.existingSecret }}
- { name: ca, mountPath: /etc/wts/ca, readOnly: true }
{{- end }}
{{- with .service.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "wts.probe" -}}
httpGet: { path: {{ .path }}, port: http }
timeoutSeconds: {{ int .service.probes.timeoutSeconds }}
periodSeconds: {{ int .period }}
failureThreshold: {{ int .failures }}
{{- end -}}

{{- define "wts.container" -}}
- name: {{ .row.name }}
  image: {{ include "wts.image" . | quote }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  securityContext: {{- toYaml .service.containerSecurityContext | nindent 4 }}
  ports:
    - { name: http, containerPort: {{ ternary 4000 8080 (eq .row.name "gateway") }}, protocol: TCP }
{{- if eq .row.name "gateway" }}
    - { name: auth, containerPort: 4001, protocol: TCP }
{{- end }}
    - { name: metrics, containerPort: 9090, protocol: TCP }
  env: {{- include "wts.env" . | nindent 4 }}
{{- with .service.envFrom }}
  envFrom: {{- toYaml . | nindent 4 }}
{{- end }}
  resources: {{- include "wts.resources" . | nindent 4 }}
  startupProbe: {{- include "wts.probe" (merge (dict "path" "/health" "period" 1 "failures" .service.probes.startupSeconds) .) | nindent 4 }}
  readinessProbe: {{- include "wts.probe" (merge (dict "path" "/ready" "period" .service.probes.readinessPeriodSeconds "failures" 2) .) | nindent 4 }}
  livenessProbe: {{- include "wts.probe" (merge (dict "path" "/health" "period" .service.probes.livenessPeriodSeconds "failures" 3) .) | nindent 4 }}
  volumeMounts: {{- include "wts.volumeMounts" . | nindent 4 }}
{{- end -}}

{{/* Replicas of one version are spread, whatever is left of the one before. */}}
{{- define "wts.spread" -}}
{{- $selector := include "wts.selector" (dict "root" .root "component" .row.name) | fromYaml -}}
{{- $constraints := list -}}
{{- range $key, $how := dict "topology.kubernetes.io/zone" .service.spread.zones "kubernetes.io/hostname" .service.spread.nodes -}}
{{- if ne $how "off" -}}
{{- $constraints = append $constraints (dict "maxSkew" 1 "topologyKey" $key "whenUnsatisfiable" (ternary "DoNotSchedule" "ScheduleAnyway" (eq $how "required")) "labelSelector" (dict "matchLabels" $selector) "matchLabelKeys" (list "pod-template-hash")) -}}
{{- end -}}
{{- end -}}
{{- with $constraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The fields of `spec` that place a pod. */}}
{{- define "wts.placement" -}}
{{- range $field := list "affinity" "tolerations" "nodeSelector" "priorityClassName" "runtimeClassName" }}
{{- with index $.service $field }}
{{ $field }}: {{ toJson . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Pods are replaced when their configuration changes, because it is part of them; and when `secrets.revision` changes. */}}
{{- define "wts.podAnnotations" -}}
{{- $own := dict "kubectl.kubernetes.io/default-container" .row.name "checksum/config" (include "wts.env" . | sha256sum | trunc 16) -}}
{{- with .root.Values.secrets.revision }}{{ $_ := set $own "wts/secrets-revision" . }}{{ end -}}
{{- toYaml (merge (dict) .service.podAnnotations $own) -}}
{{- end -}}
