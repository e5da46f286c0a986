{{/* fullname: no name of a Service has dots, which names of releases may have */}}
{{- define "quoin.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else }}{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}{{ .Release.Name | replace "." "-" | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name $name | replace "." "-" | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}
{{- end }}

{{- define "quoin.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "quoin.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "quoin.selector" . }}
{{- end }}

{{/* cluster: "yes" when there is PostgreSQL, else empty */}}
{{- define "quoin.cluster" -}}
{{- if or .Values.database.url .Values.database.existingSecret }}yes{{ end }}
{{- end }}

{{/* embedded search: "yes" when the index is in the server, of which there is one then, else empty */}}
{{- define "quoin.embeddedSearch" -}}
{{- $on := and (ne (toString (index .Values.modules "search")) "false") (dig "modules" "search" "enabled" true .Values.config) }}
{{- if and $on (not .Values.search.typesense.url) (ne (dig "search" "engine" "" .Values.config) "typesense") }}yes{{ end }}
{{- end }}

{{/* beforehand: what the migration needs is made by hooks, before it, and also for a rollback. The
release does not have it: it is kept when Helm compares what the release before had, and can be taken over
by a release without hooks. */}}
{{- define "quoin.beforehand" -}}
helm.sh/hook: pre-install,pre-upgrade,pre-rollback
helm.sh/hook-weight: "-10"
helm.sh/hook-delete-policy: before-hook-creation
helm.sh/resource-policy: keep
meta.helm.sh/release-name: {{ .Release.Name | quote }}
meta.helm.sh/release-namespace: {{ .Release.Namespace | quote }}
{{- end }}

{{- define "quoin.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "quoin.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ default (include "quoin.fullname" .) .Values.serviceAccount.name }}{{ else }}{{ default "default" .Values.serviceAccount.name }}{{ end }}
{{- end }}

{{/* secret: an environment variable from an existing secret, or from ours */}}
{{- define "quoin.secret" -}}
- name: {{ .variable }}
  valueFrom: { secretKeyRef: { name: {{ .existing | default (printf "%s-secrets" (include "quoin.fullname" .root)) }}, key: {{ .key }} } }
{{- end }}

{{- define "quoin.env" -}}
- { name: QUOIN_CONFIG, value: /etc/quoin/quoin.yaml }
- { name: QUOIN_DATA, value: /data }
{{- if include "quoin.plugins" . }}
- { name: QUOIN_PLUGINS__DIR, value: /plugins }
{{- end }}
- { name: QUOIN_ADMIN_USERNAME, value: {{ .Values.admin.username | quote }} }
{{- with .Values.admin.existingSecret }}
{{ include "quoin.secret" (dict "root" $ "variable" "QUOIN_ADMIN_PASSWORD" "existing" . "key" "password") }}
{{- end }}
{{- if include "quoin.cluster" . }}
{{ include "quoin.secret" (dict "root" . "variable" "QUOIN_DATABASE_URL" "existing" .Values.database.existingSecret "key" (ternary "url" "database-url" (ne .Values.database.existingSecret ""))) }}
{{- end }}
{{- if or .Values.blob.url .Values.blob.existingSecret }}
{{ include "quoin.secret" (dict "root" . "variable" "QUOIN_BLOB__URL" "existing" .Values.blob.existingSecret "key" (ternary "url" "blob-url" (ne .Values.blob.existingSecret ""))) }}
{{- end }}
{{- if .Values.search.typesense.url }}
- { name: QUOIN_SEARCH__ENGINE, value: typesense }
- { name: QUOIN_SEARCH__URL, value: {{ .Values.search.typesense.url | quote }} }
{{ include "quoin.secret" (dict "root" . "variable" "QUOIN_SEARCH__KEY" "existing" (required "search.typesense.existingSecret holds the key of Typesense" .Values.search.typesense.existingSecret) "key" "key") }}
{{- with .Values.search.prefix }}
- { name: QUOIN_SEARCH__PREFIX, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- with .Values.env }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "quoin.container" -}}
image: {{ include "quoin.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
env:
  {{- include "quoin.env" . | nindent 2 }}
{{- with .Values.envFrom }}
envFrom: {{ toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - { name: config, mountPath: /etc/quoin, readOnly: true }
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
  {{- if include "quoin.plugins" . }}
  - { name: plugins, mountPath: /plugins, readOnly: true }
  {{- end }}
{{- end }}

{{/* plugins: "yes" when a volume holds some, else empty */}}
{{- define "quoin.plugins" -}}
{{- if and .Values.plugins.image .Values.plugins.existingClaim }}{{ fail "plugins come from an image or from a claim, not from both" }}{{ end }}
{{- if or .Values.plugins.image .Values.plugins.existingClaim }}yes{{ end }}
{{- end }}

{{- define "quoin.pod" -}}
serviceAccountName: {{ include "quoin.serviceAccount" . }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "quoin.volumes" -}}
- name: config
  configMap: { name: {{ include "quoin.fullname" . }} }
- { name: tmp, emptyDir: {} }
{{- if .Values.plugins.image }}
- { name: plugins, image: { reference: {{ .Values.plugins.image | quote }}, pullPolicy: {{ .Values.plugins.pullPolicy }} } }
{{- else if .Values.plugins.existingClaim }}
- { name: plugins, persistentVolumeClaim: { claimName: {{ .Values.plugins.existingClaim }}, readOnly: true } }
{{- end }}
{{- end }}

{{- define "quoin.spread" -}}
topologySpreadConstraints:
{{- if .root.Values.topologySpreadConstraints }}
  {{- toYaml .root.Values.topologySpreadConstraints | nindent 2 }}
{{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "quoin.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
{{- end }}
{{- end }}

{{- define "quoin.podmeta" -}}
annotations:
  checksum/config: {{ include (print .root.Template.BasePath "/config.yaml") .root | sha256sum }}
  checksum/secrets: {{ include (print .root.Template.BasePath "/secret.yaml") .root | sha256sum }}
  {{- with .root.Values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
labels:
  {{- include "quoin.labels" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .component }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
