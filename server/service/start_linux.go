package service

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// LeaveStart gives back the pages of the program's own file that only its start needed: documents,
// tables of types and of lines, code that runs once. The kernel keeps them in its cache and maps
// those again that are used. It is a courtesy to others on the machine, so whatever fails is left
// as it is.
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

// untouched lists the mappings of a file in what the kernel tells of a process's memory that are
// read only and have nothing but what is in the file: a page that was written, such as one with
// addresses that were filled in at the start, would come back as it is in the file.
func untouched(smaps []byte, file string) (list []mapping) {
	clean := false // the last mapping in the list, as far as it is known
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
		case "Anonymous", "Swap", "Locked": // a file that was just written has dirty pages that are its own
			if strings.TrimSpace(value) != "0 kB" {
				drop()
			}
		}
	}
	return list
}
