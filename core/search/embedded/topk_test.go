package embedded_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quoin-cms/quoin/core/search/embedded"
)

// The smallest of many values, however they come, are those of the sorted list.
func TestSmallest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 5, 300, 700, 2000, 20_000} {
		for _, k := range []int{0, 1, 10, 256, 257, 600, 5000} {
			for name, value := range map[string]func(i int) int{
				"random": func(int) int { return r.IntN(1 << 30) }, "few": func(int) int { return r.IntN(3) },
				"rising": func(i int) int { return i }, "falling": func(i int) int { return -i }, "same": func(int) int { return 7 },
				"saw": func(i int) int { return i % 97 },
			} {
				list := make([]int, n)
				for i := range list {
					list[i] = value(i)
				}
				want := slices.Sorted(slices.Values(list))[:min(k, n)]
				from := k * 2 / 3
				first, page := embedded.Page(list, from, k-from, cmp.Compare[int])
				if !slices.Equal(page, want[min(from, len(want)):]) || len(page) > 0 && first != want[0] {
					t.Errorf("%s: the page from %d of %d differs", name, from, n)
				}
				offered := embedded.Offer(list, k, cmp.Compare[int])
				if got := embedded.Smallest(list, k, cmp.Compare[int]); !slices.Equal(got, want) || !slices.Equal(offered, want) {
					t.Errorf("%s: %d of %d differ", name, k, n)
				}
			}
		}
	}
}
