package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress is a bar on a terminal, and a line per tenth elsewhere.
type progress struct {
	w     io.Writer
	tty   bool
	mu    sync.Mutex
	total int
	done  int
	drawn time.Time
	tenth int
}

func (e *env) progress() *progress {
	f, ok := e.err.(*os.File)
	return &progress{w: e.err, tty: ok && term.IsTerminal(int(f.Fd()))}
}

func (p *progress) begin(total int) { p.total = total }

func (p *progress) step(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.tty {
		if time.Since(p.drawn) < 50*time.Millisecond && p.done < p.total {
			return
		}
		p.drawn = time.Now()
		full := 30 * p.done / max(1, p.total)
		_, _ = fmt.Fprintf(p.w, "\r[%s%s] %d/%d %-24.24s", strings.Repeat("#", full), strings.Repeat(".", 30-full), p.done, p.total, what)
		return
	}
	if tenth := 10 * p.done / max(1, p.total); tenth > p.tenth {
		p.tenth = tenth
		_, _ = fmt.Fprintf(p.w, "%d/%d %s\n", p.done, p.total, what)
	}
}

func (p *progress) end() {
	if p.tty {
		_, _ = fmt.Fprintln(p.w)
	}
}
