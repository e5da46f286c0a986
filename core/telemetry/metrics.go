package telemetry

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Gauge is a family of values that are asked for when metrics are read.
type Gauge struct {
	Name   string // such as quoin_queue_rows
	Help   string
	Labels []string
	// Collect gives each value with the labels' values, in their order. Its
	// context ends when whoever reads has waited long enough.
	Collect func(ctx context.Context, emit func(value float64, labels ...string)) error
}

// Metrics are what Prometheus reads of this process.
type Metrics struct {
	registry   *prometheus.Registry
	requests   *prometheus.HistogramVec
	deliveries *prometheus.CounterVec
}

// collectWithin is how long the gauges may take together for one reading.
const collectWithin = 5 * time.Second

// NewMetrics makes the metrics of a process: of requests, events, Go and the
// process itself.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "quoin_http_request_duration_seconds", Help: "Requests by operation and class of status, with how long they took.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"operation", "code"}),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quoin_event_deliveries_total", Help: "Deliveries of events by subscriber and what became of them.",
		}, []string{"subscriber", "outcome"}),
	}
	built := prometheus.NewGauge(prometheus.GaugeOpts{Name: "quoin_build_info", Help: "Always 1; the version of the program.", ConstLabels: prometheus.Labels{"version": version}})
	built.Set(1)
	m.registry.MustRegister(m.requests, m.deliveries, built, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Request counts an answered request. operation is empty when no operation
// took it.
func (m *Metrics) Request(operation string, status int, took time.Duration) {
	if operation == "" {
		operation = "none"
	}
	m.requests.WithLabelValues(operation, class(status)).Observe(took.Seconds())
}

// class is 2xx to 5xx.
func class(status int) string {
	classes := [...]string{"2xx", "3xx", "4xx", "5xx"}
	return classes[min(max(status/100-2, 0), len(classes)-1)]
}

// Delivery counts what happened to deliveries of a subscriber.
func (m *Metrics) Delivery(subscriber, outcome string, n int) {
	m.deliveries.WithLabelValues(subscriber, outcome).Add(float64(n))
}

// Add registers gauges; two of one name are an error.
func (m *Metrics) Add(gauges ...Gauge) error {
	for _, g := range gauges {
		c := &collector{g, prometheus.NewDesc(g.Name, g.Help, g.Labels, nil)}
		if err := m.registry.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// Handler answers what Prometheus reads. A gauge that fails is left out, and
// quoin_metrics_errors tells of it.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, Registry: m.registry})
}

// collector makes a Gauge one of Prometheus's.
type collector struct {
	gauge Gauge
	desc  *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectWithin) //nolint:forbidigo // prometheus.Collector hands none over
	defer cancel()
	err := c.gauge.Collect(ctx, func(value float64, labels ...string) {
		m, err := prometheus.NewConstMetric(c.desc, prometheus.GaugeValue, value, slices.Clone(labels)...)
		if err != nil {
			m = prometheus.NewInvalidMetric(c.desc, err)
		}
		ch <- m
	})
	if err != nil {
		ch <- prometheus.NewInvalidMetric(c.desc, err)
	}
}
