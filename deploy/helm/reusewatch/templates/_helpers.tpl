{{/* Names, labels, and what all containers have in common. */}}
{{- define "reusewatch.name" -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "reusewatch.labels" -}}
app.kubernetes.io/name: reusewatch
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "reusewatch.selector" -}}
app.kubernetes.io/name: reusewatch
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .stage }}
{{- end -}}

{{- define "reusewatch.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "reusewatch.env" -}}
- {name: REUSEWATCH_BUS, value: {{ .Values.kafka.bus | quote }}}
- {name: REUSEWATCH_TOPIC_PREFIX, value: {{ .Values.kafka.topicPrefix | quote }}}
- {name: REUSEWATCH_KAFKA_SECURITY, value: {{ .Values.kafka.security | quote }}}
{{- if contains "sasl" .Values.kafka.security }}
- {name: REUSEWATCH_KAFKA_SASL, value: {{ .Values.kafka.sasl | quote }}}
- {name: REUSEWATCH_KAFKA_USERNAME, value: {{ .Values.kafka.username | quote }}}
- name: REUSEWATCH_KAFKA_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ required "kafka.passwordSecret.name: the Secret with the password" .Values.kafka.passwordSecret.name }}
      key: {{ .Values.kafka.passwordSecret.key }}
{{- end }}
{{- with .Values.kafka.hashKeySecret }}
{{- if .name }}
- name: REUSEWATCH_HASH_KEY
  valueFrom:
    secretKeyRef: {name: {{ .name }}, key: {{ .key }}}
{{- end }}
{{- end }}
{{- if .Values.kafka.caConfigMap.name }}
- {name: REUSEWATCH_KAFKA_TLS_CA, value: /etc/reusewatch/tls/{{ .Values.kafka.caConfigMap.key }}}
{{- end }}
{{- if .Values.archives.claim }}
- {name: REUSEWATCH_ARCHIVE_ROOTS, value: /archives}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- /* Numbers of values are floating: a million would be written as 1e+06. */}}
{{- if and (kindIs "float64" $value) (eq (floor $value) $value) }}{{ $value = int64 $value }}{{ end }}
- {name: REUSEWATCH_{{ upper $name }}, value: {{ toString $value | quote }}}
{{- end }}
{{- end -}}

{{- define "reusewatch.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* The pod of a stage: .root, .stage, .values, .state ("claim" where it has a volume of its own) */}}
{{- define "reusewatch.pod" -}}
metadata:
  labels:
    {{- include "reusewatch.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .stage }}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 90
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  containers:
    - name: {{ .stage }}
      image: {{ include "reusewatch.image" .root | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: [work, {{ .stage }}]
      env:
        {{- include "reusewatch.env" .root | nindent 8 }}
        {{- if .named }}
        # A restart under the same name moves no partition.
        - name: REUSEWATCH_KAFKA_INSTANCE
          valueFrom: {fieldRef: {fieldPath: metadata.name}}
        {{- end }}
      ports:
        - {name: metrics, containerPort: 9461}
      # Whether the loop goes on; never whether the broker is there, which no restart mends.
      livenessProbe:
        httpGet: {path: /healthz, port: metrics}
        periodSeconds: 30
        timeoutSeconds: 5
        failureThreshold: 3
      # Until the port is open: what is recovered after it is told by readiness.
      startupProbe:
        httpGet: {path: /healthz, port: metrics}
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 120
      {{- if ne .stage "index" }}
      # Assigned and recovered. Not of the index: one that stands by is never ready, and an update
      # or a drain would wait for it for ever. `reusewatch_ready` tells who judges.
      readinessProbe:
        httpGet: {path: /readyz, port: metrics}
        periodSeconds: 10
        timeoutSeconds: 5
      {{- end }}
      securityContext:
        {{- include "reusewatch.security" . | nindent 8 }}
      resources: {{- toYaml .values.resources | nindent 8 }}
      volumeMounts:
        - {name: state, mountPath: /state}
        - {name: tmp, mountPath: /tmp}
        {{- include "reusewatch.mounts" .root | nindent 8 }}
  volumes:
    - {name: tmp, emptyDir: {}}
    {{- if ne .state "claim" }}
    - {name: state, emptyDir: {}}
    {{- end }}
    {{- include "reusewatch.volumes" .root | nindent 4 }}
  {{- with .root.Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "reusewatch.mounts" -}}
{{- if .Values.archives.claim }}
- {name: archives, mountPath: /archives, readOnly: true}
{{- end }}
{{- if .Values.kafka.caConfigMap.name }}
- {name: tls, mountPath: /etc/reusewatch/tls, readOnly: true}
{{- end }}
{{- end -}}

{{- define "reusewatch.volumes" -}}
{{- if .Values.archives.claim }}
- name: archives
  persistentVolumeClaim: {claimName: {{ .Values.archives.claim }}, readOnly: true}
{{- end }}
{{- if .Values.kafka.caConfigMap.name }}
- name: tls
  configMap: {name: {{ .Values.kafka.caConfigMap.name }}}
{{- end }}
{{- end -}}
