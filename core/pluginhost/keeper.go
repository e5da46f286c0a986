package pluginhost

import (
	"io"
	"os/exec"
	"syscall"
)

// keeper is a shell that leads the group of processes which a plugin is started
// into. It waits for the end of its input, which comes when this process ends in
// whatever way, and then kills the group: the plugin, what that has started, and
// itself. Only what has left the group is not reached.
type keeper struct {
	cmd   *exec.Cmd
	input io.Closer
}

// guard starts the keeper of a command that is about to be started. Where there
// is no shell, as in containers that hold nothing but the server, the command
// leads a group of its own, and the container ends what is left.
func guard(cmd *exec.Cmd) *keeper {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	sh := exec.Command("/bin/sh", "-c", "read -r line; kill -s KILL 0") //nolint:noctx // ends with its input
	sh.Env = []string{}
	sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := sh.StdinPipe()
	if err != nil || sh.Start() != nil {
		return &keeper{}
	}
	cmd.SysProcAttr.Pgid = sh.Process.Pid
	return &keeper{sh, input}
}

// end kills a process and what it has started, and the keeper.
func (k *keeper) end(pid int) {
	if k.cmd == nil {
		if pid > 1 {
			_ = syscall.Kill(-pid, syscall.SIGKILL) // gone already is well
		}
		return
	}
	_ = syscall.Kill(-k.cmd.Process.Pid, syscall.SIGKILL) // its number is not given anew before Wait
	_ = k.input.Close()
	_ = k.cmd.Wait() // it was killed
}

// alive tells whether there is a process.
func alive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }
