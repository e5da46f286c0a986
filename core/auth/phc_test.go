package auth

import "testing"

func FuzzParsePHC(f *testing.F) {
	for _, seed := range []string{
		"", "$", "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
		"$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"$argon2i$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
		"$argon2id$v=19$m=4294967295,t=4294967295,p=255$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5",
		"$argon2id$v=19$m=10,t=1,p=1$00000000000$0000\r0000000000000000000",
		"$argon2id$v=19$m=+8,t=01,p=1$c2FsdHNhbHQ=$a2V5",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := parsePHC(s)
		if err != nil {
			return
		}
		if h.Memory > maxMemory || h.Time > maxTime || h.Threads > maxThreads || h.Memory < 8*uint32(h.Threads) || h.Time == 0 || h.Threads == 0 {
			t.Errorf("%q asks for too much or too little: %+v", s, h.Params)
		}
		if h.String() != s {
			t.Errorf("%q is written as %q", s, h.String())
		}
	})
}
