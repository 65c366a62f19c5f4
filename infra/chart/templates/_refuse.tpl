{{/* Fails with a sentence for values that cannot work. */}}
{{- define "wts.refuse" -}}
{{- range $name, $use := .Files.Get "files/removed.json" | fromJson -}}
{{- if hasKey $.Values $name }}{{ fail (printf "The value %s is not known: %s" $name $use) }}{{ end -}}
{{- end -}}
{{- range list "baseUrl" "authUrl" -}}
{{- if not (index $.Values .) }}{{ fail (printf "%s is missing: set it to the public address, such as https://%s.example.com." . (ternary "api" "auth" (eq . "baseUrl"))) }}{{ end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (trimSuffix "/" (urlParse .Values.authUrl).path) -}}
{{- fail "authUrl has a path, which an Ingress cannot remove: use httpRoute, or an authUrl without a path." -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs is missing: name the Gateway, such as {name: public, namespace: gateways}." -}}
{{- end -}}
{{- if and .Values.tls.enabled .Values.tls.certManager.enabled (not .Values.tls.certManager.issuer) -}}
{{- fail "tls.certManager.issuer is missing: name the issuer of cert-manager." -}}
{{- end -}}
{{- $services := include "wts.services" . | fromJsonArray -}}
{{- range $services -}}
{{- $service := .service -}}
{{- $row := .row -}}
{{- if and (not $service.enabled) (not $service.url) (has $row.name (list "sync" "auth" "workspace")) -}}
{{- fail (printf "services.%s.enabled is false, and the others cannot work without it: set services.%s.url to the one of another installation." $row.name $row.name) -}}
{{- end -}}
{{- if and (eq $service.autoscaling.kind "keda") (or (has "sockets" $service.autoscaling.triggers) (has "webhookLag" $service.autoscaling.triggers)) (not $.Values.keda.prometheusUrl) -}}
{{- fail (printf "keda.prometheusUrl is missing: services.%s.autoscaling.triggers needs Prometheus." $row.name) -}}
{{- end -}}
{{- end -}}
{{- range .Values.cells -}}
{{- if eq (int .shard) (int $.Values.cell.shard) -}}
{{- fail (printf "cells has %d, the shard of this installation: list the other ones, each with a number of its own." (int .shard)) -}}
{{- end -}}
{{- end -}}
{{- range $services -}}
{{- if and .row.isGlobal $.Values.cell.shard .service.enabled -}}
{{- fail (printf "cell.shard is %d, and this installation has %s: cell 0 has it, and the others its address in services.%s.url." (int $.Values.cell.shard) .row.name .row.name) -}}
{{- end -}}
{{- if and .row.isGlobal $.Values.cells (not .service.enabled) -}}
{{- fail (printf "cells is for the installation that has %s: this one has services.%s.enabled false." .row.name .row.name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
