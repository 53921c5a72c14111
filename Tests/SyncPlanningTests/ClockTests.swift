import SyncPlanning
import Testing

@Suite("A device's clocks")
struct ClockTests {
    private func reading(_ running: Int64, wall: Int64, boot: String = "1") -> ClockReading {
        ClockReading(boot: boot, running: running, wall: wall)
    }

    @Test("give the server's time after a greeting, however the wall clock was set in between")
    func jumps() {
        var clocks = ClockOffsets()
        #expect(clocks.serverTime(of: reading(10, wall: 99)) == nil)
        clocks.measure(sent: reading(100, wall: 5000), received: reading(120, wall: 5020), server: 1_000_010)
        #expect(clocks.serverTime(of: reading(50, wall: -7_000_000)) == 999_950)
        #expect(clocks.serverTime(of: reading(200, wall: 9_000_000)) == 1_000_100)
    }

    @Test("keep what the shortest round trip told")
    func shortest() {
        var clocks = ClockOffsets()
        clocks.measure(sent: reading(0, wall: 0), received: reading(10, wall: 10), server: 1005)
        clocks.measure(sent: reading(100, wall: 100), received: reading(1100, wall: 1100), server: 9999)
        #expect(clocks.serverTime(of: reading(50, wall: 50)) == 1050)
    }

    @Test("use the wall clock for a start of the machine in which there was no greeting")
    func otherBoot() {
        var clocks = ClockOffsets()
        clocks.measure(sent: reading(0, wall: 500), received: reading(10, wall: 510), server: 1005)
        #expect(clocks.serverTime(of: reading(3, wall: 100, boot: "0")) == 600)
    }

    @Test("take a wall clock to be right where a measurement cannot tell that it is not")
    func agreement() {
        var clocks = ClockOffsets()
        clocks.measure(sent: reading(0, wall: 500), received: reading(100, wall: 600), server: 590)
        #expect(clocks.serverTime(of: reading(0, wall: 700, boot: "0")) == 700)
        clocks.measure(sent: reading(0, wall: 500), received: reading(100, wall: 600), server: 601)
        #expect(clocks.serverTime(of: reading(0, wall: 700, boot: "0")) == 751)
    }
}
