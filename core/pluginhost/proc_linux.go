package pluginhost

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// guard makes the process the leader of a group of its own, and has the kernel
// kill it when the thread that starts it ends: with the host, however that ends.
func guard(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills a process and what it has started.
func killGroup(pid int) {
	if pid > 1 {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // gone already is well
	}
}

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

// alive tells whether there is a process.
func alive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }
