package pluginhost_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	hostv1 "github.com/quoin-cms/quoin/sdk/proto/host/v1"
)

// Whoever finds the socket of the host services needs the token of the plugin
// as well.
func TestHostServicesWantTheTokenOfThePlugin(t *testing.T) {
	short, err := os.MkdirTemp("", "q") //nolint:usetesting // the path of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	t.Setenv("TMPDIR", short)
	running(t, nil)
	found, err := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("quoin-plugin-%d-*", os.Getpid()), "host.sock"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the sockets are %v, %v", found, err)
	}
	if info, err := os.Stat(filepath.Dir(found[0])); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the socket has the mode %v, %v", info.Mode(), err)
	}
	conn, err := grpc.NewClient("unix:"+found[0], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for _, said := range [][]string{nil, {"quoin-plugin", ""}, {"quoin-plugin", "good"}, {"quoin-plugin", "a", "quoin-plugin", "b"}} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), said...)
		if _, err := hostv1.NewKVClient(conn).Get(ctx, &hostv1.KVGetRequest{Key: "k"}); status.Code(err) != codes.Unauthenticated {
			t.Errorf("a call with %q gives %v", said, err)
		}
		stream, err := hostv1.NewFilesClient(conn).Read(ctx, &hostv1.ReadFileRequest{Hash: "x"})
		if err == nil {
			_, err = stream.Recv()
		}
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("a stream with %q gives %v", said, err)
		}
	}
}
