package systemd

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUntouched: only what is the file's, read only and as it is in the file may be given back.
func TestUntouched(t *testing.T) {
	const smaps = `00400000-00600000 r-xp 00000000 fe:00 42 /opt/loyalty
Rss:                2048 kB
Private_Clean:      1024 kB
Private_Dirty:      1024 kB
Anonymous:             0 kB
Swap:                  0 kB
Locked:                0 kB
00600000-00700000 r--p 00200000 fe:00 42 /opt/loyalty
Private_Dirty:         4 kB
Anonymous:             4 kB
00700000-00800000 r--p 00300000 fe:00 42 /opt/loyalty
Private_Dirty:         0 kB
Anonymous:             0 kB
00800000-00900000 rw-p 00400000 fe:00 42 /opt/loyalty
Private_Dirty:         0 kB
00900000-00a00000 r--p 00000000 fe:00 43 /opt/other
Private_Dirty:         0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Private_Dirty:      4096 kB
`

	require.Equal(t, []mapping{{0x400000, 0x600000}, {0x700000, 0x800000}}, untouched([]byte(smaps), "/opt/loyalty"))
	require.Empty(t, untouched([]byte(smaps), "/opt/loyal"))
	require.Empty(t, untouched(nil, "/opt/loyalty"))
}

// TestLeaveStart: the program goes on as before; what it needs is read again.
func TestLeaveStart(t *testing.T) {
	file, err := os.Readlink("/proc/self/exe")
	require.NoError(t, err)
	maps, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	require.NotEmpty(t, untouched(maps, file))
	LeaveStart()
	require.NotEmpty(t, untouched(maps, file))
}
