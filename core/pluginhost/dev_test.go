package pluginhost_test

import (
	"path/filepath"
	"testing"

	"github.com/quoin-cms/quoin/core/pluginhost"
)

// TestSettingsOfAnAuthor: in dev mode the settings are a file beside the plugin,
// and a change of it counts at once.
func TestSettingsOfAnAuthor(t *testing.T) {
	k := newKit(t, func(c *pluginhost.Config) { c.Dev = true })
	k.install("settings-a", goodManifest)
	file := filepath.Join(k.dir, "settings-a", pluginhost.DevSettings)
	write(t, file, `{"limit":-1}`)
	k.start()
	if st := k.until("settings-a", pluginhost.Failed); st.Reason == "" {
		t.Errorf("%+v", st)
	}
	write(t, file, `{"limit":`)
	k.until("settings-a", pluginhost.Failed)
	write(t, file, `{"limit":1}`)
	k.until("settings-a", pluginhost.Ready)
}
