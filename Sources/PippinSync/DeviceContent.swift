import Foundation
import SyncPlanning

/// Everything that a device keeps of its sync beside its rows and its history. Its parts are notes of the store, which
/// are written in the transactions that change them.
struct DeviceContent {
    var record: DeviceRecord
    /// Transactions of the store's history up to this number are in `open`, in `frozen`, or settled. What comes later
    /// is read from the history.
    var captured: Int64
    /// The cursors of own transactions that are read from the history.
    var cursors: [CursorMark] = []
    /// Unsent transactions that are not what the history has any more.
    var open: [OwnTransaction] = []
    var frozen: FrozenBatch?
    /// What the server has taken, for the case that it loses it.
    var acknowledged: [AcknowledgedBatch] = []
    /// The last batch that the server has taken and that is not among these any more; nil for none.
    private(set) var forgotten: UInt64?
    /// What the server last had of rows with unsent changes.
    var base: [BaseRow] = []
    var journal: [JournalEntry] = []
    var nextEntry = 1
    /// How often closures of rows have been about to run for the step that comes next.
    var attempts: [RowID: Int] = [:]

    init(record: DeviceRecord, captured: Int64) { (self.record, self.captured) = (record, captured) }

    /// Own transactions after a number of the store's history were made when the device knew this state of the server.
    struct CursorMark: Codable, Hashable {
        let after: Int64
        let cursor: HistoryNumber
    }

    /// The transactions of a batch, by their numbers in the store's history.
    struct AcknowledgedBatch: Codable, Hashable {
        let batch: UInt64
        let first: UInt64
        let last: UInt64
    }

    struct BaseRow: Codable, Hashable {
        let id: RowID
        /// Nil for a row that the server does not have.
        let values: [String: SyncValue]?
    }

    /// A change that was not taken.
    struct JournalEntry: Codable, Hashable {
        let number: Int
        let refused: RefusedChange
        /// The whole row as it was shown.
        let values: [String: SyncValue]
    }

    /// How many batches are kept for the case that the server loses them.
    static let mostAcknowledged = 200

    func cursor(of number: Int64) -> HistoryNumber { cursors.last { $0.after < number }?.cursor ?? 0 }

    mutating func note(cursor: HistoryNumber, after number: Int64) {
        cursors.append(CursorMark(after: number, cursor: cursor))
        let first = cursors.lastIndex { $0.after <= captured } ?? 0
        cursors.removeFirst(first)
    }

    mutating func acknowledge(_ batch: UInt64, _ transactions: [OwnTransaction]) {
        guard let first = transactions.map(\.number).min(), let last = transactions.map(\.number).max() else { return }
        acknowledged.append(AcknowledgedBatch(batch: batch, first: first, last: last))
        if acknowledged.count > Self.mostAcknowledged { forgotten = acknowledged.removeFirst().batch }
    }

    mutating func refuse(_ refused: RefusedChange, _ values: [String: SyncValue]) {
        journal.append(JournalEntry(number: nextEntry, refused: refused, values: values))
        nextEntry += 1
    }

    /// How many transactions wait that are not read from the history.
    var waiting: Int { open.count + (frozen?.request.transactions.count ?? 0) }
}

// The notes.
extension DeviceContent {
    /// The part that changes with each page: small, whatever waits.
    private struct Position: Codable, Hashable {
        var summary: DeviceSummary
        var cursors: [CursorMark]
        var nextBatch: UInt64
        var nextEntry: Int
        var cursorTime: Int64?
        var answered: UInt64?
        var forgotten: UInt64?
    }

    private struct Attempt: Codable, Hashable {
        let id: RowID
        let count: Int
    }

    private var listedAttempts: [Attempt] {
        attempts.sorted { $0.key < $1.key }.map { Attempt(id: $0.key, count: $0.value) }
    }

    private var position: Position {
        Position(
            summary: DeviceSummary(cursor: record.cursor, captured: captured, waiting: waiting), cursors: cursors,
            nextBatch: record.nextBatch, nextEntry: nextEntry, cursorTime: record.cursorTime,
            answered: record.answered, forgotten: forgotten)
    }

    /// The record without what is in the position.
    private var rest: DeviceRecord {
        var rest = record
        (rest.cursor, rest.nextBatch, rest.cursorTime, rest.answered) = (0, 0, nil, nil)
        return rest
    }

    /// What a store has noted; nil for one that was never synced.
    init?(_ place: SyncStore) throws {
        guard let position = try place.noted(Position.self, SyncNote.cursor),
            var record = try place.noted(DeviceRecord.self, SyncNote.device)
        else { return nil }
        (record.cursor, record.nextBatch) = (position.summary.cursor, position.nextBatch)
        (record.cursorTime, record.answered) = (position.cursorTime, position.answered)
        self.init(record: record, captured: position.summary.captured)
        (cursors, nextEntry, forgotten) = (position.cursors, position.nextEntry, position.forgotten)
        open = try place.noted([OwnTransaction].self, SyncNote.open) ?? []
        if let request = try place.notedBatch() {
            frozen = FrozenBatch(request: request, answer: try place.noted(PushAnswer.self, SyncNote.answer))
        }
        acknowledged = try place.noted([AcknowledgedBatch].self, SyncNote.acknowledged) ?? []
        base = try place.noted([BaseRow].self, SyncNote.base) ?? []
        attempts = Dictionary(
            try (place.noted([Attempt].self, SyncNote.closures) ?? []).map { ($0.id, $0.count) },
            uniquingKeysWith: { first, _ in first })
        journal = try place.allNoted(JournalEntry.self, beginningWith: SyncNote.journal)
    }

    /// The notes to write, and nil for those to delete.
    ///
    /// - Parameter former: what the store has noted; nil for nothing.
    /// - Returns: the notes that differ.
    /// - Throws: the errors of coding.
    func notes(replacing former: DeviceContent?) throws -> [String: Data?] {
        var notes: [String: Data?] = [:]
        let encoder = JSONEncoder()
        func note<Part: Codable & Hashable>(_ name: String, _ part: Part?, _ former: Part?) throws {
            if part == former { return }
            notes.updateValue(try part.map { try encoder.encode($0) }, forKey: name)
        }
        func filled<Element>(_ list: [Element]?) -> [Element]? { list?.isEmpty ?? true ? nil : list }
        try note(SyncNote.cursor, position, former?.position)
        try note(SyncNote.device, rest, former?.rest)
        try note(SyncNote.open, filled(open), filled(former?.open))
        try note(SyncNote.batch, frozen?.request, former?.frozen?.request)
        try note(SyncNote.answer, frozen?.answer, former?.frozen?.answer)
        try note(SyncNote.acknowledged, filled(acknowledged), filled(former?.acknowledged))
        try note(SyncNote.base, filled(base), filled(former?.base))
        try note(SyncNote.closures, filled(listedAttempts), filled(former?.listedAttempts))
        let entries = Dictionary(uniqueKeysWithValues: journal.map { ($0.number, $0) })
        let formerEntries = Dictionary(uniqueKeysWithValues: (former?.journal ?? []).map { ($0.number, $0) })
        for number in Set(entries.keys).union(formerEntries.keys) {
            try note(SyncNote.journal(number), entries[number], formerEntries[number])
        }
        return notes
    }
}

/// Downloaded rows of one entity as bytes: the properties once, and then each row.
struct StagedRows {
    let entity: String
    /// The properties, in the order of the rows' values.
    private(set) var names: [String] = []
    private(set) var rows: [Row] = []

    /// A downloaded row.
    struct Row {
        let key: String
        let scope: SyncScope?
        /// The values in the order of the properties; nil for those that the row does not have.
        fileprivate(set) var list: [SyncValue?]
    }

    private var places: [String: Int] = [:]

    init(entity: String) { self.entity = entity }

    mutating func add(_ key: String, _ values: [String: SyncValue], _ scope: SyncScope?) {
        var row = Row(key: key, scope: scope, list: Array(repeating: nil, count: names.count))
        for (name, value) in values {
            if let place = places[name] {
                row.list[place] = value
                continue
            }
            places[name] = names.count
            names.append(name)
            row.list.append(value)
        }
        rows.append(row)
    }

    var data: Data {
        var writer = ValueWriter()
        writer.write(entity)
        writer.write(count: names.count)
        for name in names { writer.write(name) }
        writer.write(count: rows.count)
        for row in rows {
            writer.write(row.key)
            writer.write(row.scope.map { .text($0.name) })
            for value in row.list { writer.write(value) }
            // Of properties that came with later rows.
            for _ in row.list.count..<names.count { writer.write(nil) }
        }
        return Data(writer.bytes)
    }

    /// - Parameter data: what ``data`` has made.
    /// - Throws: an error for other bytes.
    init(_ data: Data) throws {
        var reader = ValueReader([UInt8](data))
        entity = try reader.string()
        names = try (0..<reader.count()).map { _ in try reader.string() }
        let count = try reader.count()
        rows.reserveCapacity(count)
        for _ in 0..<count {
            let key = try reader.string()
            var scope: SyncScope?
            if case .text(let name) = try reader.value() { scope = SyncScope(name.string) }
            var row = Row(key: key, scope: scope, list: [])
            row.list.reserveCapacity(names.count)
            for _ in names { row.list.append(try reader.value()) }
            rows.append(row)
        }
    }

    func values(of row: Row) -> [String: SyncValue] {
        var values = [String: SyncValue](minimumCapacity: names.count)
        for (name, value) in zip(names, row.list) { values[name] = value }
        return values
    }

    /// The rows as a portion has brought them.
    func changes(of kind: DownloadKind) -> [PageChange] {
        rows.map { row in
            let id = RowID(entity, row.key)
            if case .properties = kind { return .values(id, values(of: row), row.scope) }
            return .row(id, values(of: row), row.scope)
        }
    }

    var planned: [RowID: PlannedRow] {
        Dictionary(
            rows.map { (RowID(entity, $0.key), PlannedRow(values: values(of: $0), scope: $0.scope)) },
            uniquingKeysWith: { $1 })
    }
}

/// Writes values as a kind and bytes. Pure.
private struct ValueWriter {
    private(set) var bytes: [UInt8] = []

    /// Seven bits a byte, the lowest first.
    mutating func write(count: Int) {
        var rest = UInt64(count)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func write(_ text: String) {
        write(count: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func write(fixed number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func write(_ id: RowID) {
        write(id.entity)
        write(id.key.string)
    }

    mutating func write(_ value: SyncValue?) {
        switch value {
        case nil: bytes.append(0)
        case .null: bytes.append(1)
        case .bool(let flag): bytes += [2, flag ? 1 : 0]
        case .integer(let number):
            bytes.append(3)
            write(fixed: UInt64(bitPattern: number))
        case .double(let number):
            bytes.append(4)
            write(fixed: number.value.bitPattern)
        case .decimal(let digits):
            bytes.append(5)
            write(digits)
        case .text(let text):
            bytes.append(6)
            write(text.string)
        case .date(let time):
            bytes.append(7)
            write(fixed: UInt64(bitPattern: time))
        case .bytes(let content):
            bytes.append(8)
            write(count: content.count)
            bytes += content
        case .reference(let id):
            bytes.append(9)
            write(id)
        case .list(let ids):
            bytes.append(10)
            write(count: ids.count)
            for id in ids { write(id) }
        case .set(let values):
            bytes.append(11)
            write(count: values.count)
            for value in values { write(value) }
        }
    }
}

/// Reads what a `ValueWriter` has written.
private struct ValueReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Goes on by some bytes.
    ///
    /// - Returns: where they are.
    private mutating func next(_ count: Int) throws -> Range<Int> {
        guard count >= 0, count <= bytes.count - place else { throw CocoaError(.fileReadCorruptFile) }
        defer { place += count }
        return place..<place + count
    }

    private mutating func byte() throws -> UInt8 { bytes[try next(1).lowerBound] }

    mutating func count() throws -> Int {
        var (result, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let byte = UInt64(try byte())
            guard shift < 63 else { throw CocoaError(.fileReadCorruptFile) }
            result |= (byte & 0x7F) << shift
            if byte < 0x80 { break }
            shift += 7
        }
        // A list has at least a byte for each member.
        guard result <= UInt64(bytes.count) else { throw CocoaError(.fileReadCorruptFile) }
        return Int(result)
    }

    mutating func string() throws -> String { String(decoding: bytes[try next(count())], as: UTF8.self) }

    private mutating func fixed() throws -> UInt64 {
        var number: UInt64 = 0
        for place in try next(8).reversed() { number = number << 8 | UInt64(bytes[place]) }
        return number
    }

    private mutating func id() throws -> RowID { RowID(try string(), try string()) }

    mutating func value() throws -> SyncValue? {
        switch try byte() {
        case 0: return nil
        case 1: return .null
        case 2: return .bool(try byte() == 1)
        case 3: return .integer(Int64(bitPattern: try fixed()))
        case 4: return .double(ExactDouble(Double(bitPattern: try fixed())))
        case 5: return .decimal(try string())
        case 6: return .text(ExactText(try string()))
        case 7: return .date(Int64(bitPattern: try fixed()))
        case 8: return .bytes([UInt8](bytes[try next(count())]))
        case 9: return .reference(try id())
        case 10:
            var ids: [RowID] = []
            for _ in 0..<(try count()) { ids.append(try id()) }
            return .list(ids)
        case 11:
            var values: Set<SyncValue> = []
            for _ in 0..<(try count()) {
                if let value = try value() { values.insert(value) }
            }
            return .set(values)
        default: throw CocoaError(.fileReadCorruptFile)
        }
    }
}
