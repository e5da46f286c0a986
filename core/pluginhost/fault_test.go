package pluginhost_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/pluginhost"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/sdk/manifest"
	"github.com/quoin-cms/quoin/sdk/plugin"
)

// Every plugin here is bad in one way; the good one beside it answers all the
// while.
func TestBadPluginsStayDownAndSayWhy(t *testing.T) {
	k := newKit(t, func(c *pluginhost.Config) { c.MaxCrashes = 2 })
	k.install("good", goodManifest)
	k.wish("good", plugin.CapKV)
	cases := []struct {
		name, reason string
		change       func(*manifest.Manifest)
	}{
		{"exits", "ended before it said hello", nil},
		{"liar", "speaks another protocol", nil},
		{"old", "speaks another protocol", nil},
		{"protocol-9", "speaks protocol 9", func(m *manifest.Manifest) { m.Protocol = 9 }},
		{"sum-wrong", "its manifest says", func(m *manifest.Manifest) { everyProgram(m, strings.Repeat("0", 64)) }},
		{"sum-missing", "has no sha256", func(m *manifest.Manifest) { everyProgram(m, "") }},
		{"greedy", `asks for the capability "documents:write"`, goodManifest},
		{"asks-unknown", "does not know", func(m *manifest.Manifest) { m.Capabilities = []string{"root"} }},
		{"twice", "needs a name", goodManifest},
		{"double", "two tools", nil},
	}
	for _, c := range cases {
		k.install(c.name, c.change)
		k.wish(c.name)
	}
	k.start()
	k.until("good", pluginhost.Ready)
	for _, c := range cases {
		if st := k.until(c.name, pluginhost.Failed); !strings.Contains(st.Reason, c.reason) {
			t.Errorf("%s: the reason is %q, want one with %q", c.name, st.Reason, c.reason)
		}
		if got, err := k.tool("good_echo", c.name); err != nil || got != c.name {
			t.Errorf("%s: the good plugin answers %q, %v", c.name, got, err)
		}
	}
}

// The time for the start is that of every plugin, so nothing good is beside it.
func TestAPluginThatSaysNothingStaysDown(t *testing.T) {
	k := newKit(t, func(c *pluginhost.Config) { c.StartWithin, c.MaxCrashes = time.Second, 2 })
	k.install("silent", nil)
	k.wish("silent")
	k.start()
	if st := k.until("silent", pluginhost.Failed); !strings.Contains(st.Reason, "did not say hello in time") {
		t.Errorf("the reason is %q", st.Reason)
	}
}

func everyProgram(m *manifest.Manifest, sum string) {
	for platform, p := range m.Programs {
		p.SHA256 = sum
		m.Programs[platform] = p
	}
}

func TestAProgramThatWasReplacedDoesNotRun(t *testing.T) {
	k := newKit(t, nil)
	k.install("good", goodManifest)
	if err := k.host.Decide(t.Context(), &pluginhost.Wish{Name: "good", Enabled: true, SHA256: strings.Repeat("a", 64), Granted: []string{}, Config: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	k.start()
	if st := k.until("good", pluginhost.Failed); !strings.Contains(st.Reason, "enable again") {
		t.Errorf("the reason is %q", st.Reason)
	}
	k.wish("good", plugin.CapKV) // the operator agrees to the new one
	k.until("good", pluginhost.Ready)
}

func TestSignaturesAreCheckedWhenThereAreKeys(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	k := newKit(t, func(c *pluginhost.Config) { c.Keys = []string{base64.StdEncoding.EncodeToString(public)} })
	for _, name := range []string{"good", "good-unsigned", "good-forged"} {
		k.install(name, goodManifest)
		k.wish(name)
	}
	for name, over := range map[string]string{"good": "good", "good-forged": "good-unsigned"} {
		text, err := os.ReadFile(filepath.Join(k.dir, over, manifest.File))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(k.dir, name, manifest.Signature), base64.StdEncoding.EncodeToString(ed25519.Sign(private, text)))
	}
	k.start()
	k.until("good", pluginhost.Ready)
	for name, why := range map[string]string{"good-unsigned": "no signature", "good-forged": "none of plugins.keys"} {
		if st := k.until(name, pluginhost.Failed); !strings.Contains(st.Reason, why) {
			t.Errorf("%s: the reason is %q", name, st.Reason)
		}
	}
}

// slowly is for plugins that have much to do on a busy machine.
func slowly(c *pluginhost.Config) { c.Health = time.Minute }

func TestCallsThatGoWrong(t *testing.T) {
	k := running(t, slowly) // for the large answer; see the next test
	for _, c := range []struct {
		tool string
		kind problem.Kind
	}{
		{"good_panic", problem.Internal},
		{"good_big", problem.TooLarge},
	} {
		if _, err := k.tool(c.tool, ""); !problem.Is(err, c.kind) {
			t.Errorf("%s gives %v, want %s", c.tool, err, c.kind.Name())
		}
	}
	if got, err := k.tool("good_echo", "still"); err != nil || got != "still" {
		t.Errorf("afterwards it answers %q, %v", got, err)
	}
}

func TestAPluginThatHangsIsEnded(t *testing.T) {
	k := running(t, func(c *pluginhost.Config) { c.CallTimeout = 50 * time.Millisecond })
	before := k.until("good", pluginhost.Ready).PID
	for range 5 {
		if _, err := k.tool("good_hang", ""); !problem.Is(err, problem.Unavailable) {
			t.Errorf("it hangs with %v", err)
		}
	}
	waitFor(t, "a new process", func() bool { st := k.host.States()[0]; return st.State == pluginhost.Ready && st.PID != before }, k.log.String)
}

func TestAPluginThatCrashesComesBack(t *testing.T) {
	k := running(t, nil)
	if _, err := k.tool("good_crash", ""); !problem.Is(err, problem.Unavailable) {
		t.Errorf("the crash gives %v", err)
	}
	waitFor(t, "the answer after a crash", func() bool { got, err := k.tool("good_echo", "x"); return err == nil && got == "x" }, k.log.String)
}

func TestLogsAreBounded(t *testing.T) {
	k := running(t, func(c *pluginhost.Config) { c.LogRate = 10 })
	if got, err := k.tool("good_flood", ""); err != nil || got != "done" {
		t.Fatalf("the flood ends with %q, %v", got, err)
	}
	if n := k.log.size(); n > 200_000 {
		t.Errorf("100,000 lines of 120 bytes made a log of %d bytes", n)
	}
}

// beside runs another plugin, and calls it all the while until stop:
// it must answer each time.
func beside(k *kit) (stop func()) {
	k.t.Helper()
	k.install("good-beside", goodManifest)
	k.wish("good-beside", plugin.CapKV)
	k.until("good-beside", pluginhost.Ready)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		calls := 0
		for ; ; calls++ {
			select {
			case <-end:
				k.t.Logf("the other plugin answered %d times", calls)
				return
			default:
			}
			if got, err := k.tool("good-beside_echo", "still"); err != nil || got != "still" {
				k.t.Errorf("the other plugin answers %q, %v", got, err)
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}

// A plugin that was not made with the kit sends what it likes. The limit of the
// host holds before anything of it is read.
func TestAnswersHaveABound(t *testing.T) {
	k := newKit(t, func(c *pluginhost.Config) { slowly(c); c.MaxMemory = 8 << 30 })
	k.install("giant", goodManifest)
	k.wish("giant", plugin.CapKV)
	k.start()
	k.until("giant", pluginhost.Ready)
	defer beside(k)()
	for range 3 {
		if _, err := k.tool("giant_big", ""); !problem.Is(err, problem.TooLarge) {
			t.Errorf("64 MiB give %v", err)
		}
	}
	if _, err := k.tool("giant_echo", ""); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestAPluginThatAnswersAGigabyte(t *testing.T) {
	k := running(t, func(c *pluginhost.Config) { slowly(c); c.MaxMemory = 256 << 20 })
	defer beside(k)()
	if _, err := k.tool("good_huge", ""); err == nil {
		t.Error("a plugin answered a gigabyte")
	}
	waitFor(t, "the answer afterwards", func() bool { got, err := k.tool("good_echo", "x"); return err == nil && got == "x" }, k.log.String)
}

func TestMemoryIsBounded(t *testing.T) {
	k := running(t, func(c *pluginhost.Config) { c.MaxMemory = 128 << 20 })
	defer beside(k)()
	if _, err := k.tool("good_eat", ""); err == nil {
		t.Error("a plugin took memory without end")
	}
	waitFor(t, "the answer afterwards", func() bool { got, err := k.tool("good_echo", "x"); return err == nil && got == "x" }, k.log.String)
}

func TestNothingOfAPluginIsLeftBehind(t *testing.T) {
	k := running(t, nil)
	defer beside(k)()
	child, err := k.tool("good_fork", "")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(child)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.run("disable", []string{"good"}, nil); err != nil {
		t.Fatal(err)
	}
	k.until("good", pluginhost.Disabled)
	waitFor(t, "the end of what the plugin started", func() bool { return gone(pid) }, k.log.String)
}

// gone tells whether a process has ended; a zombie has.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(b), ") Z ")
}

// TestNoOrphanAfterTheHostIsKilled kills a process that hosts a plugin with
// SIGKILL: this test program again, which plays the host when asked to.
func TestNoOrphanAfterTheHostIsKilled(t *testing.T) {
	if folder := os.Getenv("QUOIN_TEST_HOST"); folder != "" {
		k := running(t, nil)
		pid, err := k.tool("good_pid", "")
		if err != nil {
			t.Fatal(err)
		}
		child, err := k.tool("good_fork", "")
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, "tmp"), pid+" "+child)
		if err := os.Rename(filepath.Join(folder, "tmp"), filepath.Join(folder, "pid")); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	folder := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestNoOrphanAfterTheHostIsKilled$")
	cmd.Env = append(os.Environ(), "QUOIN_TEST_HOST="+folder)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text []byte
	waitFor(t, "the start of the host", func() (ok bool) {
		var err error
		text, err = os.ReadFile(filepath.Join(folder, "pid"))
		return err == nil
	}, func() string { return "" })
	var pid, child int
	if _, err := fmt.Sscan(string(text), &pid, &child); err != nil || gone(pid) || gone(child) {
		t.Fatalf("the plugin does not run: %q, %v", text, err)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	waitFor(t, "the end of the plugin", func() bool { return gone(pid) }, func() string { return fmt.Sprintf("process %d lives", pid) })
	waitFor(t, "the end of what the plugin started", func() bool { return gone(child) }, func() string { return fmt.Sprintf("process %d lives", child) })
}

func TestEventsOutliveCrashes(t *testing.T) {
	const total = 1000
	k := newKit(t, func(c *pluginhost.Config) { c.MaxCrashes, c.CrashWindow = 1000, 30*time.Millisecond })
	k.install("counts", func(m *manifest.Manifest) {
		goodManifest(m)
		m.Events = []string{"test.*"}
	})
	k.wish("counts", plugin.CapKV)
	k.start()
	k.until("counts", pluginhost.Ready)
	want := map[string]bool{}
	for i := range total {
		err := k.db.InTx(t.Context(), func(ctx context.Context) error {
			return k.bus.Emit(ctx, event.Event{Type: "test.made", Subject: fmt.Sprintf("page:%d", i)})
		})
		if err != nil {
			t.Fatal(err)
		}
		want[fmt.Sprint(i)] = true
	}
	seen := 0
	waitFor(t, "every event is handled", func() bool {
		<-time.After(50 * time.Millisecond)
		seen = k.values("counts", "seen/")
		return seen == total
	}, func() string { return fmt.Sprintf("%d of %d are\n%s", seen, total, k.log) })
	if crashes := k.log.count("crashed and is started again"); crashes < 20 {
		t.Errorf("the plugin crashed %d times only", crashes)
	} else {
		t.Logf("%d events handled through %d crashes", total, crashes)
	}
}

func TestOthersAreServedWhileOnePluginIsBad(t *testing.T) {
	k := newKit(t, func(c *pluginhost.Config) { c.CallTimeout = 5 * time.Second })
	for _, name := range []string{"good", "good-two"} {
		k.install(name, goodManifest)
		k.wish(name, plugin.CapKV)
	}
	k.start()
	k.until("good", pluginhost.Ready)
	k.until("good-two", pluginhost.Ready)
	ctx, cancel := context.WithCancel(k.as("admin"))
	var bad sync.WaitGroup
	for range 20 {
		bad.Go(func() {
			for ctx.Err() == nil {
				_, err := k.call(ctx, "good-two_hang", "")
				if errors.Is(err, context.Canceled) {
					return
				}
			}
		})
	}
	var slowest time.Duration
	for range 200 {
		begin := time.Now()
		if got, err := k.tool("good_echo", "x"); err != nil || got != "x" {
			t.Errorf("the good plugin answers %q, %v", got, err)
		}
		slowest = max(slowest, time.Since(begin))
	}
	cancel()
	bad.Wait()
	t.Logf("the slowest call of the good plugin took %s", slowest)
}

func TestToolsMustNotChangeWhileAPluginRuns(t *testing.T) {
	k := newKit(t, nil)
	k.install("changes", goodManifest)
	k.wish("changes")
	k.start()
	k.until("changes", pluginhost.Ready)
	defer beside(k)()
	if _, err := k.tool("changes_grow", ""); err != nil {
		t.Fatal(err)
	}
	if st := k.until("changes", pluginhost.Failed); !strings.Contains(st.Reason, "must not change") {
		t.Errorf("the reason is %q", st.Reason)
	}
}
