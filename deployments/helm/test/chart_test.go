// Package chart_test renders the chart with Helm's own engine and reads what
// comes out with the types of Kubernetes, strictly.
package chart_test

import (
	"os"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const cluster = `
database: {existingSecret: pg}
blob: {existingSecret: s3}
search: {typesense: {url: "http://typesense:8108", existingSecret: ts}}
`

// render gives the objects of the chart, as their own types or, for those that
// Kubernetes itself does not have, as maps.
func render(t *testing.T, values string) ([]runtime.Object, []map[string]any, error) {
	t.Helper()
	return renderAs(t, "cms", values)
}

func renderAs(t *testing.T, release, values string) ([]runtime.Object, []map[string]any, error) {
	t.Helper()
	chart, err := loader.LoadDir("../quoin")
	if err != nil {
		t.Fatal(err)
	}
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(chart, given, chartutil.ReleaseOptions{Name: release, Namespace: "site", Revision: 1, IsInstall: true}, nil)
	if err != nil {
		return nil, nil, err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return nil, nil, err
	}
	strict := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, serializer.SerializerOptions{Yaml: true, Strict: true})
	var objects []runtime.Object
	var others []map[string]any
	for name, text := range files {
		if strings.HasSuffix(name, ".txt") {
			continue
		}
		for _, part := range strings.Split(text, "\n---") {
			var kind struct{ APIVersion, Kind string }
			if err := yaml.Unmarshal([]byte(part), &kind); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, part)
			}
			if kind.Kind == "" {
				continue
			}
			if strings.Contains(kind.APIVersion, "monitoring.coreos.com") || strings.Contains(kind.APIVersion, "gateway.networking") {
				other := map[string]any{}
				if err := yaml.UnmarshalStrict([]byte(part), &other); err != nil {
					t.Fatalf("%s: %v\n%s", name, err, part)
				}
				others = append(others, other)
				continue
			}
			o, _, err := strict.Decode([]byte(part), nil, nil)
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, part)
			}
			objects = append(objects, o)
		}
	}
	return objects, others, nil
}

// pods are the pods of all objects, by name of the object.
func pods(objects []runtime.Object) map[string]corev1.PodSpec {
	all := map[string]corev1.PodSpec{}
	for _, o := range objects {
		switch o := o.(type) {
		case *appsv1.Deployment:
			all[o.Name] = o.Spec.Template.Spec
		case *batchv1.Job:
			all[o.Name] = o.Spec.Template.Spec
		case *corev1.Pod:
			all[o.Name] = o.Spec
		}
	}
	return all
}

func kinds(objects []runtime.Object, others []map[string]any) map[string]int {
	n := map[string]int{}
	for _, o := range objects {
		n[o.GetObjectKind().GroupVersionKind().Kind]++
	}
	for _, o := range others {
		n[o["kind"].(string)]++
	}
	return n
}

func TestValues(t *testing.T) {
	everything := cluster + `
metrics: {serviceMonitor: {enabled: true, labels: {a: b}}, prometheusRule: {enabled: true}}
networkPolicy: {enabled: true, egress: [{to: [{podSelector: {}}]}], ingressFrom: [{namespaceSelector: {}}]}
ingress: {enabled: true, className: nginx, hosts: [{host: cms.example.org}], tls: [{secretName: tls, hosts: [cms.example.org]}], annotations: {a: b}}
gateway: {enabled: true, parentRefs: [{name: gw}], hostnames: [cms.example.org]}
server: {autoscaling: {enabled: true}}
serviceAccount: {annotations: {a: b}}
podAnnotations: {a: b}
podLabels: {c: d}
nodeSelector: {e: f}
tolerations: [{key: a, operator: Exists}]
imagePullSecrets: [{name: pull}]
priorityClassName: high
env: [{name: A, value: b}]
envFrom: [{secretRef: {name: more}}]
admin: {existingSecret: admin}
`
	for name, c := range map[string]struct {
		values string
		want   map[string]int
	}{
		"nothing":     {"", map[string]int{"Deployment": 1, "PersistentVolumeClaim": 1, "ConfigMap": 1, "Service": 1, "ServiceAccount": 1, "Pod": 1}},
		"own claim":   {"persistence: {existingClaim: mine}", map[string]int{"Deployment": 1, "ConfigMap": 1, "Service": 1, "ServiceAccount": 1, "Pod": 1}},
		"cluster":     {cluster, map[string]int{"Deployment": 2, "Job": 1, "PodDisruptionBudget": 1, "ConfigMap": 1, "Service": 1, "ServiceAccount": 1, "Pod": 1}},
		"own secrets": {"database: {url: \"postgres://a\"}\nblob: {url: \"s3://b\"}\nserver: {replicas: 1}\nworker: {enabled: false}", map[string]int{"Deployment": 1, "Job": 1, "Secret": 1, "PodDisruptionBudget": 1, "ConfigMap": 1, "Service": 1, "ServiceAccount": 1, "Pod": 1}},
		"everything": {everything, map[string]int{"Deployment": 2, "Job": 1, "PodDisruptionBudget": 1, "HorizontalPodAutoscaler": 1, "NetworkPolicy": 1, "Ingress": 1, "HTTPRoute": 1,
			"ServiceMonitor": 1, "PrometheusRule": 1, "ConfigMap": 1, "Service": 2, "ServiceAccount": 1, "Pod": 1}},
		"no metrics": {"metrics: {enabled: false}\nnetworkPolicy: {enabled: true}\nserviceAccount: {create: false}", map[string]int{"Deployment": 1, "PersistentVolumeClaim": 1, "ConfigMap": 1, "Service": 1, "NetworkPolicy": 1, "Pod": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			objects, others, err := render(t, c.values)
			if err != nil {
				t.Fatal(err)
			}
			got := kinds(objects, others)
			for kind, n := range c.want {
				if got[kind] != n {
					t.Errorf("%d %s instead of %d", got[kind], kind, n)
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("%v instead of %v", got, c.want)
			}
			for name, p := range pods(objects) {
				hardened(t, name, p)
			}
		})
	}
}

// hardened checks what every pod must have.
func hardened(t *testing.T, name string, p corev1.PodSpec) {
	t.Helper()
	s := p.SecurityContext
	if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.SeccompProfile == nil || p.AutomountServiceAccountToken == nil || *p.AutomountServiceAccountToken {
		t.Errorf("%s: %+v", name, s)
	}
	for _, c := range p.Containers {
		s := c.SecurityContext
		if s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || len(s.Capabilities.Drop) != 1 {
			t.Errorf("%s: %+v", name, s)
		}
		for _, m := range c.VolumeMounts {
			found := false
			for _, v := range p.Volumes {
				found = found || v.Name == m.Name
			}
			if !found {
				t.Errorf("%s: there is no volume %s", name, m.Name)
			}
		}
	}
}

func TestTheServer(t *testing.T) {
	objects, _, err := render(t, cluster+"server: {drainDelay: 7, stopWithin: 30}\nmodules: {form: false}\nconfig: {log: {level: debug}}")
	if err != nil {
		t.Fatal(err)
	}
	p := pods(objects)["cms-quoin-server"]
	c := p.Containers[0]
	if *p.TerminationGracePeriodSeconds < 7+2*30 || c.StartupProbe == nil || c.LivenessProbe == nil || c.ReadinessProbe == nil || c.Args[0] != "serve" {
		t.Errorf("%+v", p)
	}
	from := map[string]string{}
	for _, e := range c.Env {
		if e.ValueFrom != nil {
			from[e.Name] = e.ValueFrom.SecretKeyRef.Name + "/" + e.ValueFrom.SecretKeyRef.Key
		}
	}
	if from["QUOIN_DATABASE_URL"] != "pg/url" || from["QUOIN_BLOB__URL"] != "s3/url" || from["QUOIN_SEARCH__KEY"] != "ts/key" {
		t.Errorf("%v", from)
	}
	for _, o := range objects {
		m, ok := o.(*corev1.ConfigMap)
		if !ok {
			continue
		}
		var config map[string]map[string]any
		if err := yaml.Unmarshal([]byte(m.Data["quoin.yaml"]), &config); err != nil {
			t.Fatal(err)
		}
		if config["log"]["level"] != "debug" || config["database"]["auto_migrate"] != false || config["server"]["drain_delay"] != "7s" {
			t.Errorf("%v", config)
		}
	}
}

func TestPluginsComeFromAVolume(t *testing.T) {
	for values, check := range map[string]func(corev1.Volume) bool{
		"plugins: {image: \"registry.example.org/plugins:1\"}": func(v corev1.Volume) bool {
			return v.Image != nil && v.Image.Reference == "registry.example.org/plugins:1" && v.Image.PullPolicy == corev1.PullIfNotPresent
		},
		"plugins: {existingClaim: mine}": func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == "mine" && v.PersistentVolumeClaim.ReadOnly
		},
	} {
		for _, mode := range []string{"", cluster} {
			objects, _, err := render(t, mode+values)
			if err != nil {
				t.Fatal(err)
			}
			for name, p := range pods(objects) {
				if !strings.HasSuffix(name, "-server") && !strings.HasSuffix(name, "-worker") {
					continue
				}
				hardened(t, name, p)
				found := false
				for _, v := range p.Volumes {
					found = found || v.Name == "plugins" && check(v)
				}
				dir := ""
				for _, e := range p.Containers[0].Env {
					if e.Name == "QUOIN_PLUGINS__DIR" {
						dir = e.Value
					}
				}
				mounted := ""
				for _, m := range p.Containers[0].VolumeMounts {
					if m.Name == "plugins" && m.ReadOnly {
						mounted = m.MountPath
					}
				}
				if !found || dir == "" || dir != mounted {
					t.Errorf("%s: volume %v, folder %q, mounted at %q", name, found, dir, mounted)
				}
			}
		}
	}
	if _, _, err := render(t, "plugins: {image: a, existingClaim: b}"); err == nil {
		t.Error("both are taken")
	}
}

func TestTheConfigurationRestartsPods(t *testing.T) {
	sum := func(values string) string {
		objects, _, err := render(t, values)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			if d, ok := o.(*appsv1.Deployment); ok {
				return d.Spec.Template.Annotations["checksum/config"]
			}
		}
		return ""
	}
	if a, b := sum(""), sum("config: {log: {level: debug}}"); a == "" || a == b {
		t.Errorf("%s and %s", a, b)
	}
}

func TestMistakesAreTold(t *testing.T) {
	for values, want := range map[string]string{
		"databse: {}":             "databse",
		"server: {replicas: two}": "replicas",
		"database: {url: \"postgres://a\"}\nserver: {replicas: 1}":                                                    "bucket",
		"database: {url: \"postgres://a\"}\nblob: {url: s3://b}":                                                      "search server",
		"database: {url: \"postgres://a\"}\nblob: {url: s3://b}\nserver: {replicas: 1, autoscaling: {enabled: true}}": "search server",
		"ingress: {enabled: true}":                   "ingress.hosts",
		"gateway: {enabled: true}":                   "gateway.parentRefs",
		"config: {server: {tls: {cert: a, key: b}}}": "ingress",
		"modules: {frm: false}":                      "frm",
		"modules: {form: \"false\"}":                 "form",
	} {
		if _, _, err := render(t, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", values, err)
		}
	}
}

func TestLint(t *testing.T) {
	for _, m := range lint.All("../quoin", map[string]any{}, "site", true).Messages {
		if m.Severity > support.InfoSev {
			t.Errorf("%s: %v", m.Path, m.Err)
		}
	}
}

// find gives the object of a kind and name.
func find[T runtime.Object](t *testing.T, objects []runtime.Object, name string) (found T) {
	t.Helper()
	for _, o := range objects {
		if typed, ok := o.(T); ok && any(o).(metav1.Object).GetName() == name {
			return typed
		}
	}
	t.Fatalf("there is no %T %s", found, name)
	return found
}

// TestWhatIsThereBeforehand looks at what pods need before a migration. Hooks
// make it, so nothing of the release does: without these annotations Helm takes
// it away when an installation moves from the embedded mode to a cluster,
// refuses the way back, and leaves the newer configuration to a rollback.
func TestWhatIsThereBeforehand(t *testing.T) {
	objects, _, err := render(t, "database: {url: \"postgres://a\"}\nblob: {url: \"s3://b\"}\nserver: {replicas: 1}\nserviceAccount: {annotations: {a: b}}")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []metav1.Object{
		find[*corev1.ConfigMap](t, objects, "cms-quoin"), find[*corev1.Secret](t, objects, "cms-quoin-secrets"), find[*corev1.ServiceAccount](t, objects, "cms-quoin"),
	} {
		for key, want := range map[string]string{
			"helm.sh/hook":            "pre-install,pre-upgrade,pre-rollback",
			"helm.sh/resource-policy": "keep", "meta.helm.sh/release-name": "cms", "meta.helm.sh/release-namespace": "site",
		} {
			if got := o.GetAnnotations()[key]; got != want {
				t.Errorf("%T: %s is %q", o, key, got)
			}
		}
	}
	if got := find[*corev1.ServiceAccount](t, objects, "cms-quoin").Annotations["a"]; got != "b" {
		t.Errorf("the annotation of the operator is %q", got)
	}
	if got := find[*batchv1.Job](t, objects, "cms-quoin-migrate").Annotations["helm.sh/hook"]; got != "pre-install,pre-upgrade" {
		t.Errorf("the migration runs at %q", got)
	}
	objects, _, err = render(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if a := find[*corev1.ConfigMap](t, objects, "cms-quoin").Annotations; a["helm.sh/hook"] != "" {
		t.Errorf("the embedded mode has nothing to migrate before: %v", a)
	}
}

// TestOneServerMakesRoomForTheNext is about the search engine in the process: a
// second server is refused while the first one runs, so that a rolling update
// would wait for ever.
func TestOneServerMakesRoomForTheNext(t *testing.T) {
	const postgres = "database: {existingSecret: pg}\nblob: {existingSecret: s3}\n"
	for values, want := range map[string]appsv1.DeploymentStrategyType{
		postgres + "server: {replicas: 1}":                                                 appsv1.RecreateDeploymentStrategyType,
		postgres + "server: {replicas: 1}\nmodules: {search: false}":                       appsv1.RollingUpdateDeploymentStrategyType,
		postgres + "config: {search: {engine: typesense, url: \"http://typesense:8108\"}}": appsv1.RollingUpdateDeploymentStrategyType,
		cluster: appsv1.RollingUpdateDeploymentStrategyType,
		"":      appsv1.RecreateDeploymentStrategyType,
	} {
		objects, _, err := render(t, values)
		if err != nil {
			t.Errorf("%s: %v", values, err)
			continue
		}
		s := find[*appsv1.Deployment](t, objects, "cms-quoin-server").Spec.Strategy
		if s.Type != want || want == appsv1.RecreateDeploymentStrategyType && s.RollingUpdate != nil {
			t.Errorf("%s: %+v", values, s)
		}
	}
}

// TestTheTestFindsTheVolume is about volumes that one node may mount, or one pod.
func TestTheTestFindsTheVolume(t *testing.T) {
	objects, _, err := render(t, "affinity: {nodeAffinity: {}}\nnodeSelector: {a: b}")
	if err != nil {
		t.Fatal(err)
	}
	p := find[*corev1.Pod](t, objects, "cms-quoin-test").Spec
	if p.NodeSelector["a"] != "b" || p.Affinity == nil || p.Affinity.PodAffinity == nil || len(p.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) != 1 {
		t.Fatalf("%+v", p)
	}
	near := p.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
	server := find[*appsv1.Deployment](t, objects, "cms-quoin-server").Spec.Template.Labels
	for key, value := range near.LabelSelector.MatchLabels {
		if server[key] != value {
			t.Errorf("the server has no label %s=%s", key, value)
		}
	}
	if near.TopologyKey != "kubernetes.io/hostname" || near.LabelSelector.MatchLabels["app.kubernetes.io/component"] != "server" {
		t.Errorf("%+v", near)
	}
	objects, others, err := render(t, "persistence: {accessModes: [ReadWriteOncePod]}")
	if err != nil {
		t.Fatal(err)
	}
	if n := kinds(objects, others)["Pod"]; n != 0 {
		t.Errorf("%d pods wait for the volume of the server for ever", n)
	}
	if objects, _, err = render(t, cluster); err != nil {
		t.Fatal(err)
	}
	if a := find[*corev1.Pod](t, objects, "cms-quoin-test").Spec.Affinity; a != nil {
		t.Errorf("a cluster has no volume to be near to: %+v", a)
	}
}

// TestAWholeConfigurationFile gives the chart what `quoin config defaults`
// prints. Addresses, times and migrations are of the chart, for its probes,
// ports and grace periods are made for them.
func TestAWholeConfigurationFile(t *testing.T) {
	text, err := os.ReadFile("../../../config/default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, _, err := render(t, cluster+"modules: {form: false}\nconfig:\n  "+strings.ReplaceAll(string(text), "\n", "\n  "))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Server struct {
			Listen     string
			DrainDelay string `json:"drain_delay"`
		}
		Telemetry struct {
			Listen string
			Traces map[string]any
		}
		Database map[string]any
		Modules  map[string]struct{ Enabled bool }
	}
	if err := yaml.Unmarshal([]byte(find[*corev1.ConfigMap](t, objects, "cms-quoin").Data["quoin.yaml"]), &config); err != nil {
		t.Fatal(err)
	}
	if s := config.Server; s.Listen != "0.0.0.0:8080" || s.DrainDelay != "5s" || config.Telemetry.Listen != "0.0.0.0:9090" || config.Telemetry.Traces == nil {
		t.Errorf("%+v", config)
	}
	if config.Database["auto_migrate"] != false || config.Modules["form"].Enabled || !config.Modules["job"].Enabled {
		t.Errorf("%+v", config)
	}
}

// TestNamesOfReleases takes names that are numbers in YAML, and those that
// have what a label or a Service must not have.
func TestNamesOfReleases(t *testing.T) {
	for release, want := range map[string]string{"123": "123-quoin", "1e3": "1e3-quoin", "a.b": "a-b-quoin", strings.Repeat("x", 53): strings.Repeat("x", 50)} {
		objects, _, err := renderAs(t, release, cluster+"metrics: {serviceMonitor: {enabled: true}}")
		if err != nil {
			t.Errorf("%s: %v", release, err)
			continue
		}
		d := find[*appsv1.Deployment](t, objects, want+"-server")
		if d.Spec.Selector.MatchLabels["app.kubernetes.io/instance"] != release {
			t.Errorf("%v", d.Spec.Selector)
		}
		for _, o := range objects {
			if name := any(o).(metav1.Object).GetName(); len(name) > 63 || strings.Contains(name, ".") {
				t.Errorf("the name %s", name)
			}
		}
	}
}
