/// What a device's clocks show at one moment.
package struct ClockReading: Hashable, Sendable {
    /// The identifier of the machine's start; the running time begins anew with each.
    package var boot: String
    /// Microseconds since the start, sleep included. Nobody can set this clock.
    package var running: Int64
    /// Microseconds since 1970, by the clock on the wall, which anybody can set.
    package var wall: Int64

    package init(boot: String, running: Int64, wall: Int64) {
        self.boot = boot
        self.running = running
        self.wall = wall
    }
}

/// How far a device's clocks are from the server's, measured with each greeting. Pure.
package struct ClockOffsets: Hashable, Sendable {
    /// The offset of a start of the machine, and the round trip in which it was measured. Half of that is the greatest
    /// error.
    package struct Measurement: Hashable, Sendable {
        package var boot: String
        package var offset: Int64
        package var roundTrip: Int64
    }

    /// Server's time less running time by the shortest round trip, for the last starts in which there was a greeting.
    private var measurements: [Measurement] = []
    /// Server's time less the wall clock's, as last measured.
    package private(set) var wall: Int64?

    package init() {}

    /// Takes in a greeting's answer: the server's time was read halfway between sending and receiving.
    package mutating func measure(sent: ClockReading, received: ClockReading, server: Int64) {
        guard sent.boot == received.boot else { return }
        let roundTrip = received.running - sent.running
        let half = roundTrip / 2
        let measurement = Measurement(boot: sent.boot, offset: server - (sent.running + half), roundTrip: roundTrip)
        if let place = measurements.firstIndex(where: { $0.boot == sent.boot }) {
            if roundTrip < measurements[place].roundTrip { measurements[place] = measurement }
        } else {
            measurements = measurements.suffix(15) + [measurement]
        }
        wall = server - (received.wall - half)
    }

    package func measurement(of boot: String) -> Measurement? { measurements.first { $0.boot == boot } }

    /// When something happened by the server's clock, or nil if no greeting has ever been answered.
    ///
    /// Within a start of the machine in which there was a greeting this does not depend on the wall clock.
    package func serverTime(of reading: ClockReading) -> Int64? {
        if let measurement = measurement(of: reading.boot) { return reading.running + measurement.offset }
        return wall.map { reading.wall + $0 }
    }
}
