{{/* A rule: (dict direction, peers, ports, udp). Without peers it is for every address. */}}
{{- define "wts.rule" -}}
{{- $ports := list -}}
{{- range .ports -}}
{{- $port := . -}}
{{- if kindIs "float64" $port }}{{ $port = int $port }}{{ end -}}
{{- $ports = append $ports (dict "protocol" "TCP" "port" $port) -}}
{{- if $.udp }}{{ $ports = append $ports (dict "protocol" "UDP" "port" $port) }}{{ end -}}
{{- end -}}
{{- $rule := dict "ports" $ports -}}
{{- if .peers }}{{ $_ := set $rule .direction .peers }}{{ end -}}
{{- toYaml (list $rule) -}}
{{- end -}}

{{/* Peers: the pods of components of this release. */}}
{{- define "wts.pods" -}}
{{- $peers := list -}}
{{- range .components -}}
{{- $peers = append $peers (dict "podSelector" (dict "matchLabels" (include "wts.selector" (dict "root" $.root "component" .) | fromYaml))) -}}
{{- end -}}
{{- toYaml $peers -}}
{{- end -}}

{{/* Peers: public addresses. The blocks are those of the address guard of the services. */}}
{{- define "wts.publicAddresses" -}}
{{- $peers := list -}}
{{- range .Files.Get "files/public-addresses.json" | fromJsonArray -}}
{{- $peers = append $peers (dict "ipBlock" .) -}}
{{- end -}}
{{- toYaml $peers -}}
{{- end -}}

{{/* Peers: the setting WEBHOOK_ALLOWED_CIDRS of a service, whose single addresses become blocks. */}}
{{- define "wts.allowedCidrs" -}}
{{- $peers := list -}}
{{- range splitList "," (include "wts.text" (dig "settings" "WEBHOOK_ALLOWED_CIDRS" "" .)) -}}
{{- with trim . -}}
{{- $block := ternary . (printf "%s/%s" . (ternary "128" "32" (contains ":" .))) (contains "/" .) -}}
{{- $peers = append $peers (dict "ipBlock" (dict "cidr" $block)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $peers -}}
{{- end -}}

{{/* Whether this service calls one that has a `url`, or those of other cells: (dict root, row, services). */}}
{{- define "wts.callsElsewhere" -}}
{{- if and .row.isGlobal .root.Values.cells }}yes{{ end -}}
{{- range .services -}}
{{- if and .service.url (has .row.name $.row.calls) }}yes{{ end -}}
{{- end -}}
{{- end -}}

{{/* Whether a service of another installation calls this one: (dict root, row, services). */}}
{{- define "wts.isCalledFromElsewhere" -}}
{{- if and .row.isGlobal .root.Values.cells }}yes{{ end -}}
{{- range .services -}}
{{- if and (not .service.enabled) (has $.row.name .row.calls) }}yes{{ end -}}
{{- end -}}
{{- end -}}
