package systemd

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// LeaveStart frees the pages of the program's own file that only its start needed: documents, tables of types and
// lines, code that runs once. They stay in the kernel's cache, which maps used ones again. It is a courtesy to other
// programs on the machine, so failures are ignored.
func LeaveStart() {
	file, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range untouched(maps, file) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
	}
}

// mapping is a stretch of memory.
type mapping struct{ from, to uintptr }

// untouched lists the mappings of a file, in the kernel's list of a process's memory, that are read-only and unchanged.
// A written page, such as one with addresses that were filled in at the start, would come back as it is in the file.
func untouched(smaps []byte, file string) (list []mapping) {
	clean := false // whether the last mapping in the list is unchanged, as far as it is read
	drop := func() {
		if clean {
			list, clean = list[:len(list)-1], false
		}
	}

	lines := bufio.NewScanner(bytes.NewReader(smaps))
	for lines.Scan() {
		line := lines.Text()
		var m mapping
		var access string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &m.from, &m.to, &access); n == 3 {
			if clean = strings.HasSuffix(line, " "+file) && (access == "r--p" || access == "r-xp"); clean {
				list = append(list, m)
			}
			continue
		}

		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "Anonymous", "Swap", "Locked": // the dirty pages of a recently written file belong to the file
			if strings.TrimSpace(value) != "0 kB" {
				drop()
			}
		}
	}

	return list
}
