package pluginhost_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/pluginhost"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/sdk/plugin"
)

// BenchmarkToolCall is a call of a tool that does nothing: what the process
// boundary adds.
func BenchmarkToolCall(b *testing.B) {
	k := running(b, nil)
	ctx, source := k.as("admin"), k.host.Tools()
	call := port.ToolCall{Name: "good_echo", Arguments: []byte(`{"text":"hello"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := source.CallTool(ctx, call); err != nil {
			b.Fatal(err)
		}
	}
	if memory := residentOf(k.host.States()[0].PID); memory > 0 {
		b.ReportMetric(float64(memory)/(1<<20), "MiB/plugin")
	}
}

func residentOf(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(b), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// BenchmarkStartTen starts ten plugins side by side until all are ready.
func BenchmarkStartTen(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		k := newKit(b, nil)
		for i := range 10 {
			name := fmt.Sprintf("good-%d", i)
			k.install(name, goodManifest)
			k.wish(name, plugin.CapKV)
		}
		b.StartTimer()
		begin := time.Now()
		k.start()
		for i := range 10 {
			k.until(fmt.Sprintf("good-%d", i), pluginhost.Ready)
		}
		b.ReportMetric(time.Since(begin).Seconds(), "s/ten")
	}
}
