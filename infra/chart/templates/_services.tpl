{{/* The services of files/services.json, each with its values: `defaults` under `services.<name>`. JSON of a list of {row, service}. */}}
{{- define "wts.services" -}}
{{- $all := list -}}
{{- range $row := .Files.Get "files/services.json" | fromJsonArray -}}
{{- $service := deepCopy $.Values.defaults -}}
{{- include "wts.override" (dict "into" $service "from" (index $.Values.services $row.name | default dict)) -}}
{{- $all = append $all (dict "row" $row "service" $service) -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{/* Deeper than `merge`, and with values that are false, zero or empty. */}}
{{- define "wts.override" -}}
{{- $into := .into -}}
{{- range $key, $value := .from -}}
{{- if and (kindIs "map" $value) (kindIs "map" (index $into $key)) -}}
{{- include "wts.override" (dict "into" (index $into $key) "from" $value) -}}
{{- else -}}
{{- $_ := set $into $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What a service is asked at: (dict root, name, services). */}}
{{- define "wts.url" -}}
{{- $name := .name -}}
{{- $url := printf "http://%s-%s:8080" (include "wts.fullname" .root) $name -}}
{{- range .services -}}
{{- if and (eq .row.name $name) .service.url }}{{ $url = .service.url }}{{ end -}}
{{- end -}}
{{- $url -}}
{{- end -}}

{{/* The number of replicas at least. */}}
{{- define "wts.replicasMin" -}}
{{- if eq .service.autoscaling.kind "none" }}{{ int .service.replicas }}{{ else }}{{ int .service.autoscaling.minReplicas }}{{ end -}}
{{- end -}}

{{- define "wts.serviceAccount" -}}
{{- .service.serviceAccount.name | default (printf "%s-%s" (include "wts.fullname" .root) .row.name) -}}
{{- end -}}

{{/* A value of a setting as the text of a variable: lists by commas, objects as JSON, whole numbers without exponent. */}}
{{- define "wts.text" -}}
{{- if kindIs "bool" . }}{{ ternary "on" "off" . }}
{{- else if kindIs "slice" . }}{{ join "," . }}
{{- else if kindIs "map" . }}{{ toJson . }}
{{- else if kindIs "float64" . }}{{ printf "%.0f" . }}
{{- else }}{{ . }}{{ end -}}
{{- end -}}
