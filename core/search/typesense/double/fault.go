package double

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Fault spoils requests. All that is set applies to one request, in this
// order: Arrived, Hold, Delay, Drop, Status, RejectLine, Cut.
type Fault struct {
	// Method and Path choose the requests; empty is any, Path is a part of it.
	Method, Path string
	// Times is how many requests are spoilt; 0 is all.
	Times int
	// Arrived is told of each spoilt request before anything else.
	Arrived chan<- struct{}
	// Hold keeps the request until the channel is closed or the client goes.
	Hold <-chan struct{}
	// Delay keeps the request for that long or until the client goes.
	Delay time.Duration
	// Drop closes the connection before anything is done.
	Drop bool
	// Status is answered in place of the real answer, nothing is done.
	Status int
	// RejectLine gives the error of an import line, "" to take the line.
	RejectLine func(line string) string
	// Cut closes the connection after CutAfter bytes of the real answer;
	// what was asked for has been done then.
	Cut      bool
	CutAfter int
}

// Inject adds a fault. The first one that fits a request is used.
func (s *Server) Inject(f Fault) {
	s.log.Lock()
	defer s.log.Unlock()
	if f.Times == 0 {
		f.Times = -1
	}
	s.faults = append(s.faults, &f)
}

// Heal removes all faults.
func (s *Server) Heal() {
	s.log.Lock()
	defer s.log.Unlock()
	s.faults = nil
}

// fault takes the fault of a request, one without effect for most.
func (s *Server) fault(r *http.Request) *Fault {
	s.log.Lock()
	defer s.log.Unlock()
	for _, f := range s.faults {
		if f.Times != 0 && (f.Method == "" || f.Method == r.Method) && strings.Contains(r.URL.Path, f.Path) {
			f.Times--
			return f
		}
	}
	return &Fault{}
}

// before does what comes before the request is looked at; false when it is
// answered.
func (f *Fault) before(w http.ResponseWriter, r *http.Request) bool {
	if f.Arrived != nil {
		select {
		case f.Arrived <- struct{}{}:
		case <-r.Context().Done():
			return false
		}
	}
	if f.Hold != nil {
		select {
		case <-f.Hold:
		case <-r.Context().Done():
			return false
		}
	}
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return false
		}
	}
	if f.Drop {
		panic(http.ErrAbortHandler)
	}
	if f.Status != 0 {
		body := message("Not Ready or Lagging")
		if r.URL.Path == "/health" {
			body = encode(map[string]any{"ok": false})
		}
		(&Fault{}).write(w, f.Status, "application/json", body)
		return false
	}
	return true
}

func (f *Fault) reject(line []byte) *failure {
	if f.RejectLine == nil {
		return nil
	}
	if text := f.RejectLine(string(line)); text != "" {
		return fail(400, text)
	}
	return nil
}

// write sends the answer, or the first bytes of it.
func (f *Fault) write(w http.ResponseWriter, code int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	if f.Cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
		w.WriteHeader(code)
		_, _ = w.Write(body[:min(f.CutAfter, len(body))])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(code)
	_, _ = w.Write(body)
}
