package embedded

import (
	"slices"
	"sort"
)

// column holds the values of a field per object, in the order of objects. It
// takes no more room than its values need: objs is nil while every object
// from 0 on has values, off is nil while each of them has exactly one.
type column[T uint32 | float64] struct {
	rows int      // objects with values
	objs []uint32 // object of each row
	off  []uint32 // start of each row in vals, and the end of the last
	vals []T
}

// add appends a value of an object, which is not below the last one.
func (c *column[T]) add(object uint32, v T) {
	if c.rows > 0 && c.object(c.rows-1) == object {
		if c.off == nil {
			c.off = make([]uint32, c.rows+1, c.rows+c.rows/4+2)
			for i := range c.off {
				c.off[i] = uint32(i)
			}
		}
		c.vals = append(c.vals, v)
		c.off[c.rows] = uint32(len(c.vals))
		return
	}
	if c.objs == nil && int(object) != c.rows {
		c.objs = make([]uint32, c.rows, c.rows+4)
		for i := range c.objs {
			c.objs[i] = uint32(i)
		}
	}
	if c.objs != nil {
		c.objs = append(c.objs, object)
	}
	c.rows++
	c.vals = append(c.vals, v)
	if c.off != nil {
		c.off = append(c.off, uint32(len(c.vals)))
	}
}

func (c *column[T]) object(row int) uint32 {
	if c.objs == nil {
		return uint32(row)
	}
	return c.objs[row]
}

// row gives the values of a row.
func (c *column[T]) row(i int) []T {
	if c.off == nil {
		return c.vals[i : i+1]
	}
	return c.vals[c.off[i]:c.off[i+1]]
}

// lastRow gives the values of the object if it is the last one with values.
func (c *column[T]) lastRow(object uint32) []T {
	if c.rows == 0 || c.object(c.rows-1) != object {
		return nil
	}
	return c.row(c.rows - 1)
}

// cursor reads a column for ascending objects.
type cursor[T uint32 | float64] struct {
	c   *column[T]
	pos int
}

// seek gives the values of the object, nil if it has none. Objects must not
// descend from call to call.
func (k *cursor[T]) seek(object uint32) []T {
	c := k.c
	if c.objs == nil {
		if int(object) >= c.rows {
			return nil
		}
		return c.row(int(object))
	}
	// Gallop, because the next row is often near.
	step := 1
	low, high := k.pos, k.pos
	for high < c.rows && c.objs[high] < object {
		low = high + 1
		high += step
		step *= 2
	}
	high = min(high, c.rows)
	k.pos = low + sort.Search(high-low, func(i int) bool { return c.objs[low+i] >= object })
	if k.pos < c.rows && c.objs[k.pos] == object {
		return c.row(k.pos)
	}
	return nil
}

// get gives the values of any object.
func (c *column[T]) get(object uint32) []T {
	if c.objs == nil {
		if int(object) >= c.rows {
			return nil
		}
		return c.row(int(object))
	}
	if i, ok := slices.BinarySearch(c.objs, object); ok {
		return c.row(i)
	}
	return nil
}

// find gives the row of an object.
func (c *column[T]) find(object uint32) (row int, ok bool) {
	if c.objs == nil {
		return int(object), int(object) < c.rows
	}
	return slices.BinarySearch(c.objs, object)
}

// renumber appends the column to another one with new numbers, without the
// objects that have none.
func (c *column[T]) renumber(out *column[T], to []uint32, value func(T) T) {
	for i := range c.rows {
		object := to[c.object(i)]
		if object == gone {
			continue
		}
		for _, v := range c.row(i) {
			out.add(object, value(v))
		}
	}
}
