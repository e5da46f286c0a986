package embedded_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
	"github.com/quoin-cms/quoin/core/search/embedded"
)

// keptRaw is a document as it is after so many changes.
func keptRaw(id, change int) []byte {
	return fmt.Appendf(nil, `{"title":"word%d word%d","n":%d,"tag":["t%d","t%d"],"parts":[{"name":"p%d","at":"2024-01-%02d"},{"name":"q"}]}`,
		id%7, change%5, change, id%3, change%4, change%6, 1+id%28)
}

func keptSettings() search.Settings {
	return search.Settings{Types: map[string][]search.Field{
		"page": {{Path: "title", Kind: search.KindText}, {Path: "tag", Kind: search.KindKeyword}, {Path: "parts", Kind: search.KindNested}},
		"note": {{Path: "title", Kind: search.KindSearchAsType}, {Path: "tag", Kind: search.KindText, Fielddata: true, Analyzer: "whitespace"}},
	}}
}

func keptKey(id int) search.Key {
	return search.Key{Type: []string{"page", "note"}[id%2], OUUID: fmt.Sprintf("d%04d", id)}
}

// keptOp is a change of a document; the loader makes its source of the ref.
func keptOp(id, change int) search.Op {
	k := keptKey(id)
	return search.Op{Key: k, Doc: &search.Doc{Key: k, Ref: int64(id)<<32 | int64(change), Stamp: int64(change), Raw: keptRaw(id, change)}}
}

func keptLoad(_ context.Context, _ string, refs []int64) ([][]byte, error) {
	out := make([][]byte, len(refs))
	for i, ref := range refs {
		out[i] = keptRaw(int(ref>>32), int(ref&0xffffffff))
	}
	return out, nil
}

var keptQuestions = []string{
	`{"size":500,"sort":["_id"],"query":{"match":{"title":"word3 word1"}},"aggs":{"t":{"terms":{"field":"tag"},"aggs":{"m":{"avg":{"field":"n"}}}},"c":{"terms":{"field":"_contenttype"}}}}`,
	`{"size":500,"query":{"bool":{"must":{"multi_match":{"query":"word2 word4","fields":["title","_all"],"type":"cross_fields"}},"filter":{"exists":{"field":"n"}}}}}`,
	`{"size":500,"sort":["n","_id"],"query":{"nested":{"path":"parts","query":{"bool":{"must":[{"term":{"parts.name.keyword":"p2"}},{"range":{"parts.at":{"gte":"2024-01-05"}}}]}}}}}`,
	`{"size":500,"sort":[{"tag":"desc"},"_id"],"query":{"match_phrase":{"title":"word1 word2"}},"aggs":{"n":{"nested":{"path":"parts"},"aggs":{"p":{"terms":{"field":"parts.name.keyword"},"aggs":{"r":{"reverse_nested":{}}}}}}}}`,
	`{"size":500,"sort":["_id"],"query":{"wildcard":{"tag":"t*"}},"aggs":{"s":{"stats":{"field":"n"}},"d":{"terms":{"field":"tag","min_doc_count":0}}}}`,
}

// asked gives what an engine answers to all questions.
func asked(tb testing.TB, e search.Engine) []string {
	tb.Helper()
	var out []string
	for _, q := range keptQuestions {
		r, err := dsl.Parse([]byte(q))
		must(tb, err)
		res, err := e.Search(context.Background(), one, r)
		must(tb, err)
		res.Took, res.Shards = 0, 0
		if len(r.Sort) == 0 { // the order of equal scores is that of writing
			slices.SortStableFunc(res.Hits, func(a, b search.Hit) int { return strings.Compare(a.Key.OUUID, b.Key.OUUID) })
		}
		out = append(out, string(res.AppendJSON(nil)))
	}
	return out
}

func same(tb testing.TB, what string, got, want search.Engine) {
	tb.Helper()
	a, b := asked(tb, got), asked(tb, want)
	for i := range a {
		if a[i] != b[i] {
			tb.Errorf("%s: %s\n%.2000s\nwant\n%.2000s", what, keptQuestions[i], a[i], b[i])
		}
	}
}

// scratch is an index of documents, each after so many changes, that was never
// merged.
func scratch(tb testing.TB, changes map[int]int) *embedded.Engine {
	e := embedded.New(keptLoad)
	must(tb, e.Create(context.Background(), "one", keptSettings()))
	var ops []search.Op
	for id, change := range changes {
		ops = append(ops, keptOp(id, change))
	}
	must(tb, e.Apply(context.Background(), "one", ops))
	return e
}

// TestMergeWhileBusy changes documents, searches and scrolls while the index is
// merged all the time. No document may ever be missing or there twice, and none
// may be found as it was before a change that had ended.
func TestMergeWhileBusy(t *testing.T) {
	const docs, writers, rounds = 300, 3, 40
	e := embedded.Open(keptLoad, embedded.Options{Dir: t.TempDir()})
	e.MergeEarly(40)
	ctx := t.Context()
	must(t, e.Create(ctx, "one", keptSettings()))
	changes := map[int]int{}
	var ops []search.Op
	for id := range docs {
		ops = append(ops, keptOp(id, 0))
	}
	must(t, e.Apply(ctx, "one", ops))
	var all sync.WaitGroup
	stop := make(chan struct{})
	var mu sync.Mutex
	for w := range writers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for round := range rounds {
				var ops []search.Op
				mine := map[int]int{}
				for range 10 {
					id := r.IntN(docs/writers)*writers + w
					mine[id] = round*writers + w + 1
					ops = append(ops, keptOp(id, mine[id]))
				}
				if err := e.Apply(ctx, "one", ops); err != nil {
					t.Error(err)
				}
				q := search.Request{Size: docs}
				out, err := e.Search(ctx, one, &q)
				if err != nil {
					t.Error(err)
					return
				}
				for _, h := range out.Hits {
					if want, ok := mine[int(h.Ref>>32)]; ok && int(h.Ref&0xffffffff) != want {
						t.Errorf("%s was found as after change %d, not %d", h.Key.OUUID, h.Ref&0xffffffff, want)
					}
				}
				mu.Lock()
				for id, change := range mine {
					changes[id] = change
				}
				mu.Unlock()
			}
		})
	}
	readers := sync.WaitGroup{}
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				scrollAll(t, e, docs)
			}
		})
	}
	all.Wait()
	close(stop)
	readers.Wait()
	for id := range docs {
		changes[id] += 0
	}
	e.SaveAll()
	same(t, "after it all", e, scratch(t, changes))
	fresh := embedded.Open(keptLoad, embedded.Options{Dir: filepath.Dir(e.FileOf("one"))})
	if ok, reason, err := fresh.Restore(ctx, "one", keptSettings()); !ok {
		t.Fatal(reason, err)
	}
	same(t, "opened", fresh, e)
	if list, _ := os.ReadDir(filepath.Dir(e.FileOf("one"))); len(list) != 1 {
		t.Errorf("files %v", list)
	}
}

// TestNoFolder merges where no file can be written: the index goes on in memory.
func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	e := embedded.Open(keptLoad, embedded.Options{Dir: filepath.Join(file, "search")})
	e.MergeEarly(5)
	ctx := t.Context()
	if ok, reason, err := e.Restore(ctx, "one", keptSettings()); ok || reason == "" || err != nil {
		t.Fatalf("%v %q %v", ok, reason, err)
	}
	changes := map[int]int{}
	for i := range 60 {
		var ops []search.Op
		for id := i; id < i+20; id++ {
			changes[id] = i
			ops = append(ops, keptOp(id, i))
		}
		must(t, e.Apply(ctx, "one", ops))
		e.Settle()
		if n := e.Segments("one"); n > 9 {
			t.Fatalf("%d segments", n)
		}
	}
	same(t, "in memory", e, scratch(t, changes))
	e.Close()
}

// scrollAll reads a scroll to its end.
func scrollAll(t *testing.T, e search.Engine, docs int) {
	c, err := e.Scroll(t.Context(), one, &search.Request{Size: 37})
	if err != nil {
		t.Error(err)
		return
	}
	seen := map[string]bool{}
	for i := 0; !c.Done(); i++ {
		out, err := c.Next(t.Context(), nil)
		if err != nil {
			t.Error(err)
			return
		}
		for _, h := range out.Hits {
			if seen[h.Key.OUUID] {
				t.Errorf("%s twice in a scroll", h.Key.OUUID)
			}
			seen[h.Key.OUUID] = true
		}
		if i%3 == 2 {
			c.Tidy()
		}
	}
	if len(seen) != docs {
		t.Errorf("%d documents in a scroll, want %d", len(seen), docs)
	}
}

// crashDir names the folder of the child process of TestCrash.
const crashDir = "QUOIN_TEST_CRASH_DIR"

const crashDocs = 400

// TestCrash kills a process that writes and merges at any moment, many times.
// What it leaves must open, and be as an index built from nothing once it was
// compared and what differs applied.
func TestCrash(t *testing.T) {
	if dir := os.Getenv(crashDir); dir != "" {
		crashing(t, dir)
		return
	}
	dir := t.TempDir()
	restored := 0
	state := map[int]int{} // what was acknowledged
	for round := range 12 {
		// #nosec G204 -- the test itself
		cmd := exec.Command(os.Args[0], "-test.run=^TestCrash$")
		cmd.Env = append(os.Environ(), crashDir+"="+dir, fmt.Sprintf("QUOIN_TEST_CRASH_ROUND=%d", round))
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for n := 0; n < 5+round*9 && lines.Scan(); n++ {
			var first, last, change int
			if _, err := fmt.Sscanf(lines.Text(), "%d %d %d", &first, &last, &change); err != nil {
				t.Fatalf("the child said %q", lines.Text())
			}
			for id := first; id < last; id++ {
				state[id] = change
			}
		}
		must(t, cmd.Process.Kill())
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()

		e := embedded.Open(keptLoad, embedded.Options{Dir: dir})
		must(t, e.Clean())
		ok, reason, err := e.Restore(t.Context(), "one", keptSettings())
		if err != nil || reason != "" {
			t.Fatalf("round %d: %v %v %s", round, ok, err, reason)
		}
		if ok {
			restored++
		}
		catchUp(t, e, state)
		same(t, fmt.Sprintf("round %d", round), e, scratch(t, state))
		if list, _ := os.ReadDir(dir); len(list) > 1 {
			t.Errorf("files %v", list)
		}
		e.SaveAll()
		e.Close()
	}
	if restored < 6 {
		t.Errorf("only %d times there was a file", restored)
	}
}

// catchUp does what the owner of an index does after a start.
func catchUp(t *testing.T, e *embedded.Engine, state map[int]int) {
	c, err := e.Compare("one")
	must(t, err)
	var ops []search.Op
	for id := range crashDocs {
		if change, ok := state[id]; ok {
			if op := keptOp(id, change); !c.Same(op.Key, op.Doc.Ref, op.Doc.Stamp) {
				ops = append(ops, op)
			}
		}
	}
	must(t, c.Rest(func(k search.Key) error {
		id, err := strconv.Atoi(k.OUUID[1:])
		if _, known := state[id]; !known {
			ops = append(ops, search.Op{Key: k})
		}
		return err
	}))
	must(t, e.Apply(t.Context(), "one", ops))
}

// A comparison after a start reads the index as it was when it began, while
// documents are changed, some of them get fields that none had before, and
// segments are merged. It read maps that were written, which ends a process.
func TestCompareWhileWriting(t *testing.T) {
	const docs, late = 300, 40
	dir := t.TempDir()
	e := embedded.Open(keptLoad, embedded.Options{Dir: dir})
	must(t, e.Create(t.Context(), "one", keptSettings()))
	apply := func(from, to, change int) {
		var ops []search.Op
		for id := from; id < to; id++ {
			ops = append(ops, keptOp(id, change))
		}
		must(t, e.Apply(t.Context(), "one", ops))
	}
	apply(0, docs, 1)
	e.SaveAll()
	e.Close()

	e = embedded.Open(keptLoad, embedded.Options{Dir: dir})
	defer e.Close()
	if ok, reason, err := e.Restore(t.Context(), "one", keptSettings()); !ok || err != nil {
		t.Fatal(reason, err)
	}
	apply(0, late, 2) // what was changed between the start and the comparison
	e.MergeEarly(30)
	c, err := e.Compare("one")
	must(t, err)
	var writing sync.WaitGroup
	writing.Go(func() {
		for id := range docs {
			op := keptOp(id, 3)
			op.Doc.Raw = slices.Concat(op.Doc.Raw[:len(op.Doc.Raw)-1], fmt.Appendf(nil, `,"new%d":"x","sub":{"new%d":1}}`, id, id))
			if err := e.Apply(t.Context(), "one", []search.Op{op}); err != nil {
				t.Error(err)
			}
		}
	})
	for id := range docs {
		change := 1
		if id < late {
			change = 2
		}
		if op := keptOp(id, change); id%3 > 0 && !c.Same(op.Key, op.Doc.Ref, op.Doc.Stamp) {
			t.Errorf("%s was not as it was", op.Key.OUUID)
		}
	}
	rest := 0
	must(t, c.Rest(func(k search.Key) error {
		if id, err := strconv.Atoi(k.OUUID[1:]); err != nil || id%3 > 0 || k != keptKey(id) {
			t.Errorf("%v was not asked for", k)
		}
		rest++
		return nil
	}))
	if rest != docs/3 {
		t.Errorf("%d documents were not asked for", rest)
	}
	writing.Wait()
	state := map[int]int{}
	for id := range docs {
		state[id] = 3
	}
	e.Settle()
	catchUp(t, e, state)
	same(t, "after the comparison", e, scratch(t, state))
}

// crashing is the child: it writes until it is killed.
func crashing(t *testing.T, dir string) {
	round, _ := strconv.Atoi(os.Getenv("QUOIN_TEST_CRASH_ROUND"))
	e := embedded.Open(keptLoad, embedded.Options{Dir: dir})
	e.MergeEarly(60)
	if _, reason, err := e.Restore(t.Context(), "one", keptSettings()); err != nil || reason != "" {
		t.Fatal(reason, err)
	}
	for i := 0; ; i++ {
		first := i * 20 % crashDocs
		var ops []search.Op
		for id := first; id < first+20; id++ {
			ops = append(ops, keptOp(id, round*1000+i))
		}
		must(t, e.Apply(t.Context(), "one", ops))
		fmt.Printf("%d %d %d\n", first, first+20, round*1000+i)
	}
}

// keptFile is a whole base of a few documents.
func keptFile(tb testing.TB, dir string) (path string) {
	e := embedded.Open(keptLoad, embedded.Options{Dir: dir})
	must(tb, e.Create(tb.Context(), "one", keptSettings()))
	var ops []search.Op
	for id := range 60 {
		ops = append(ops, keptOp(id, id))
	}
	must(tb, e.Apply(tb.Context(), "one", ops))
	e.SaveAll()
	e.Close()
	return e.FileOf("one")
}

// FuzzBase opens files of any bytes, and of the bytes of a whole file of which
// some were changed. They are refused, or answer as the whole one does.
func FuzzBase(f *testing.F) {
	dir := f.TempDir()
	path := keptFile(f, dir)
	whole, err := os.ReadFile(path)
	must(f, err)
	sound := embedded.Open(keptLoad, embedded.Options{Dir: dir})
	if ok, reason, err := sound.Restore(f.Context(), "one", keptSettings()); !ok {
		f.Fatal(reason, err)
	}
	want := asked(f, sound)
	f.Add([]byte{}, uint32(0), byte(0), uint32(0), false)
	f.Add([]byte("QuoinIdx"), uint32(0), byte(0), uint32(0), false)
	for _, at := range []uint32{0, 9, 13, 16, 24, 32, 40, 61, 64, 1000, uint32(len(whole)) - 3, uint32(len(whole)) - 200} {
		f.Add([]byte(nil), at, byte(0x81), uint32(0), false)
		f.Add([]byte(nil), at, byte(0x81), uint32(0), true)
		f.Add([]byte(nil), at, byte(0), at, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint32, flip byte, cut uint32, mend bool) {
		if len(data) == 0 {
			data = slices.Clone(whole)
			data[int(at)%len(data)] ^= flip
			data = data[:len(data)-int(cut)%len(data)]
		}
		if mend {
			mended(data)
		}
		file := filepath.Join(t.TempDir(), filepath.Base(path))
		must(t, os.WriteFile(file, data, 0o600))
		e := embedded.Open(keptLoad, embedded.Options{Dir: filepath.Dir(file)})
		ok, reason, err := e.Restore(t.Context(), "one", keptSettings())
		if err != nil {
			t.Fatal(err)
		}
		if !ok && reason == "" {
			t.Fatal("refused without a reason")
		}
		if ok && !mend {
			if got := asked(t, e); !slices.Equal(got, want) {
				t.Fatalf("a damaged file answers\n%s", got)
			}
		}
	})
}

// mended makes the sums of a file right again, as if a program had written it
// so. Such a file need not answer well, but opening it must not fall over.
func mended(data []byte) {
	if len(data) < 64 {
		return
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	binary.LittleEndian.PutUint64(data[16:], uint64(len(data)))
	binary.LittleEndian.PutUint32(data[40:], crc32.Checksum(data[64:], table))
	binary.LittleEndian.PutUint32(data[60:], crc32.Checksum(data[:60], table))
}
