{{/*
The two origins, with the port of the gateway for each. The gateway serves the authorization origin without its path. That of all cells
is served by the first one.
*/}}
{{- define "wts.origins" -}}
{{- $api := urlParse .Values.baseUrl -}}
{{- $auth := urlParse .Values.authUrl -}}
- { host: {{ $api.hostname | quote }}, port: http, path: "" }
{{- if not .Values.cell.shard }}
- { host: {{ $auth.hostname | quote }}, port: auth, path: {{ trimSuffix "/" $auth.path | quote }} }
{{- end }}
{{- end -}}

{{/* A rule of an HTTPRoute: (dict root, origin, type, path, strip). */}}
{{- define "wts.routeRule" -}}
- matches: [{ path: { type: {{ .type }}, value: {{ .path | quote }} } }]
{{- if .strip }}
  filters: [{ type: URLRewrite, urlRewrite: { path: { type: ReplacePrefixMatch, replacePrefixMatch: / } } }]
{{- end }}
  backendRefs: [{ name: {{ include "wts.fullname" .root }}-gateway, port: {{ ternary 4000 4001 (eq .origin.port "http") }} }]
{{- with .root.Values.httpRoute.timeouts }}
  timeouts: {{- toYaml . | nindent 4 }}
{{- end }}
{{- end -}}

{{/* Sockets open for more than an hour, answers as they come, bodies of 4 MiB, no path that the controller rewrites. */}}
{{- define "wts.controllerAnnotations" -}}
{{- if eq . "nginx" -}}
nginx.ingress.kubernetes.io/proxy-body-size: 5m
nginx.ingress.kubernetes.io/proxy-buffering: "off"
nginx.ingress.kubernetes.io/proxy-request-buffering: "off"
nginx.ingress.kubernetes.io/proxy-read-timeout: "7200"
nginx.ingress.kubernetes.io/proxy-send-timeout: "7200"
nginx.ingress.kubernetes.io/proxy-next-upstream: "off"
{{- else if eq . "haproxy" -}}
haproxy.org/timeout-tunnel: 2h
haproxy.org/timeout-server: 130s
{{- else if eq . "alb" -}}
alb.ingress.kubernetes.io/target-type: ip
alb.ingress.kubernetes.io/backend-protocol-version: HTTP1
alb.ingress.kubernetes.io/healthcheck-path: /ready
alb.ingress.kubernetes.io/load-balancer-attributes: idle_timeout.timeout_seconds=4000
{{- else if eq . "cilium" -}}
ingress.cilium.io/request-timeout: 0s
{{- else -}}
{}
{{- end -}}
{{- end -}}
