// Package proto_test keeps the wire as it was: within v1 things are only added.
package proto_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	hostv1 "github.com/quoin-cms/quoin/sdk/proto/host/v1"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

var update = flag.Bool("update", false, "write what is there as the state to keep")

const golden = "testdata/wire.txt"

// wire lists everything that the wire promises, a line each.
func wire() []string {
	var lines []string
	for _, f := range []protoreflect.FileDescriptor{pluginv1.File_plugin_v1_plugin_proto, hostv1.File_host_v1_host_proto} {
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			for j := range s.Methods().Len() {
				m := s.Methods().Get(j)
				lines = append(lines, fmt.Sprintf("rpc %s %s stream=%v returns %s stream=%v", m.FullName(), m.Input().FullName(), m.IsStreamingClient(), m.Output().FullName(), m.IsStreamingServer()))
			}
		}
		lines = append(lines, messages(f.Messages())...)
	}
	slices.Sort(lines)
	return lines
}

func messages(list protoreflect.MessageDescriptors) []string {
	var lines []string
	for i := range list.Len() {
		m := list.Get(i)
		for j := range m.Fields().Len() {
			f := m.Fields().Get(j)
			kind := f.Kind().String()
			if f.Message() != nil {
				kind = string(f.Message().FullName())
			}
			lines = append(lines, fmt.Sprintf("field %s = %d %s %s", f.FullName(), f.Number(), f.Cardinality(), kind))
		}
		for j := range m.Enums().Len() {
			for k := range m.Enums().Get(j).Values().Len() {
				v := m.Enums().Get(j).Values().Get(k)
				lines = append(lines, fmt.Sprintf("value %s = %d", v.FullName(), v.Number()))
			}
		}
		lines = append(lines, messages(m.Messages())...)
	}
	return lines
}

func TestNothingIsTakenFromTheWire(t *testing.T) {
	now := wire()
	if *update {
		if err := os.WriteFile(golden, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if !slices.Contains(now, line) {
			t.Errorf("%q is gone or another: plugins that were built before would break. Add a new field or call, or a package v2", line)
		}
	}
	for _, line := range now {
		if !strings.Contains(string(b), line+"\n") {
			t.Errorf("%q is new: run the test with -update", line)
		}
	}
}

func TestEveryCallNamesItsFirstVersion(t *testing.T) {
	for _, file := range []string{"plugin/v1/plugin.proto", "host/v1/host.proto"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var comment string
		for _, line := range strings.Split(string(b), "\n") {
			line = strings.TrimSpace(line)
			switch {
			case strings.HasPrefix(line, "//"):
				comment += " " + strings.TrimPrefix(line, "// ")
				continue
			case strings.HasPrefix(line, "rpc "), strings.HasPrefix(line, "service "):
				if !strings.Contains(comment, "Since 0.") {
					t.Errorf("%s: %s does not say since which version it is there", file, line)
				}
			}
			comment = ""
		}
	}
}
