{{/* Fails with a sentence for values that cannot work. */}}
{{- define "wts.refuse" -}}
{{- range $name, $use := .Files.Get "files/removed.json" | fromJson -}}
{{- if hasKey $.Values $name }}{{ fail (printf "The value %s is not known: %s" $name $use) }}{{ end -}}
{{- end -}}
{{- range list "baseUrl" "authUrl" -}}
{{- if not (index $.Values .) }}{{ fail (printf "%s is missing: set it to the public address, such as https://%s.example.com." . (ternary "api" "auth" (eq . "baseUrl"))) }}{{ end -}}
{{- end -}}
{{- end -}}
