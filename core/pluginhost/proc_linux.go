package pluginhost

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// dieWithParent has the kernel kill the process when the thread that starts it
// ends: with the host, however that ends, and before its keeper sees it.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

const rlimitData = 2 // RLIMIT_DATA, getrlimit(2)

// boundMemory makes the kernel refuse memory far above the limit, so that a
// plugin that grows faster than anybody looks cannot take the machine down.
func boundMemory(pid int, limit int64) error {
	bound := syscall.Rlimit{Cur: uint64(2*limit + 256<<20), Max: uint64(2*limit + 256<<20)}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), rlimitData, uintptr(unsafe.Pointer(&bound)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("bound the memory of the process: %w", errno)
	}
	return nil
}

// memoryOf gives the resident memory of a process in bytes; 0 when it is not
// known.
func memoryOf(pid int) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
