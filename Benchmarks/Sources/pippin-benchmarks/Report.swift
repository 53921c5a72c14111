/// What a run measured, for programs to read and to draw.
struct Report: Encodable {
    /// What time was measured with.
    var clock: String
    var rounds: Int
    /// The size of the works that have no size of their own.
    var objects: Int
    var works: [Entry] = []

    struct Entry: Encodable {
        var table: String
        var title: String
        /// What it is compared with.
        var against: String
        /// How many things were done.
        var operations: Int
        /// In milliseconds, medians.
        var ours: Double
        var baseline: Double
        var ratio: Double
        /// The most that the ratio may be; nil where nothing is promised.
        var budget: Double?
        var oursEach: Cost
        var baselineEach: Cost
    }

    /// What one operation costs besides time.
    struct Cost: Encodable {
        var allocations: Double
        /// Outside the kernel; nil where the machine does not count them.
        var instructions: Double?
        /// The whole run's, in megabytes; nil where nobody says.
        var peakMemory: Double?
    }
}
