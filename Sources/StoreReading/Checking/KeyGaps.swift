import Foundation

/// The numbers that a store handed out to objects of a table, and that no object has: of objects that were deleted, or
/// never saved. Pure.
package struct KeyGaps: Equatable {
    /// Numbers that follow each other and are absent.
    package struct Run: Equatable {
        package let keys: ClosedRange<Int64>
        /// A date of the object before it and of the one after it, seconds since 2001; nil where there is none.
        package let before: Double?
        package let after: Double?
    }

    /// The root entity of the table.
    package let entity: String
    /// The counter of the store: the greatest number that was handed out.
    package let greatest: Int64
    /// How many objects there are.
    package private(set) var count = 0
    /// The first runs.
    package private(set) var runs: [Run] = []
    /// How many runs there are.
    package private(set) var runCount = 0
    private var last: Int64 = 0
    private var lastDate: Double?

    /// How many runs are named.
    static let mostRuns = 100

    /// How many numbers are absent.
    package var absent: Int64 { max(0, max(greatest, last) - Int64(count)) }

    init(entity: String, greatest: Int64) { (self.entity, self.greatest) = (entity, greatest) }

    /// The gaps of each table of entities that has any.
    package static func all(in pages: DatabasePages) -> [KeyGaps] {
        let byName = Dictionary(
            TableShape.all(in: pages).map { ($0.name.uppercased(), $0) }, uniquingKeysWith: { first, _ in first })
        return counters(in: pages).values.filter { $0.parent == 0 }.compactMap { counter in
            guard let shape = byName["Z" + counter.name.uppercased()] else { return nil }
            var gaps = KeyGaps(entity: counter.name, greatest: counter.greatest)
            let date = shape.columns.firstIndex { $0.type == "TIMESTAMP" }
            pages.forEachRow(of: shape.root) { key, record, _ in
                gaps.pass(key, date.flatMap { $0 < record.values.count ? seconds(record.values[$0]) : nil })
            }
            gaps.end()
            return gaps.absent > 0 ? gaps : nil
        }.sorted { $0.entity < $1.entity }
    }

    /// A row of `Z_PRIMARYKEY`.
    struct Counter {
        let name: String
        /// The number of the superentity; 0 for none.
        let parent: Int64
        let greatest: Int64
    }

    /// The counters of a store, by the numbers of the entities.
    static func counters(in pages: DatabasePages) -> [Int64: Counter] {
        guard let table = TableShape.all(in: pages).first(where: { $0.name == "Z_PRIMARYKEY" }) else { return [:] }
        var found: [Int64: Counter] = [:]
        pages.forEachRow(of: table.root) { key, record, _ in
            let values = Dictionary(
                zip(table.columns.map(\.name), record.values), uniquingKeysWith: { first, _ in first })
            guard let name = (values["Z_NAME"] ?? nil)?.string(pages.header.encoding),
                case .integer(let greatest)?? = values["Z_MAX"], case .integer(let parent)?? = values["Z_SUPER"]
            else { return }
            found[key] = Counter(name: name, parent: parent, greatest: greatest)
        }
        return found
    }

    /// The greatest number that objects of an entity's table got; nil for an entity that there is not.
    static func greatest(ofEntity number: Int64, _ counters: [Int64: Counter]) -> Int64? {
        var (current, rest) = (number, counters.count)
        while let counter = counters[current] {
            if counter.parent == 0 || rest == 0 { return counter.greatest }
            (current, rest) = (counter.parent, rest - 1)
        }
        return nil
    }

    private static func seconds(_ value: RecordValue?) -> Double? {
        switch value {
        case .real(let seconds): seconds
        case .integer(let seconds): Double(seconds)
        default: nil
        }
    }

    /// Takes the next object, in the order of the numbers.
    mutating func pass(_ key: Int64, _ date: Double?) {
        // Numbers begin with 1; a damaged file may have any.
        guard key > last else { return }
        if key > last + 1 { note(last + 1...key - 1, after: date) }
        (last, lastDate, count) = (key, date, count + 1)
    }

    /// The numbers behind the last object.
    mutating func end() { if greatest > last { note(last + 1...greatest, after: nil) } }

    private mutating func note(_ keys: ClosedRange<Int64>, after: Double?) {
        runCount += 1
        if runs.count < Self.mostRuns { runs.append(Run(keys: keys, before: lastDate, after: after)) }
    }

    /// `Call: 10,193 numbers were handed out, and 5,256 have no object: 12–19 (between 2024-01-01T10:00:00Z and …), …`
    ///
    /// - Parameter most: how many runs are named.
    /// - Returns: the sentence without its final period.
    package func text(most: Int = 5) -> String {
        let named = runs.prefix(most).map { run in
            let keys = run.keys
            let numbers = keys.count == 1 ? "\(keys.lowerBound)" : "\(keys.lowerBound)–\(keys.upperBound)"
            switch (run.before.map(TextTools.iso8601), run.after.map(TextTools.iso8601)) {
            case (let before?, let after?): return "\(numbers) (between \(before) and \(after))"
            case (let before?, nil): return "\(numbers) (after \(before))"
            case (nil, let after?): return "\(numbers) (before \(after))"
            case (nil, nil): return numbers
            }
        }
        let end = runCount > most ? ", …" : ""
        return "\(TextTools.inOneLine(entity)): \(TextTools.count(Int(max(greatest, last)), "number")) handed out, "
            + "\(TextTools.grouped(absent)) without an object: \(named.joined(separator: ", "))\(end)"
    }
}
