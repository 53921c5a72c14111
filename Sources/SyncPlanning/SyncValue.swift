/// A property's value as a sync sees it: equal if and only if its bytes are.
package enum SyncValue: Codable, Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(ExactDouble)
    /// A decimal number, as text, so that no digit is lost.
    case decimal(String)
    case text(ExactText)
    /// Microseconds since 1970.
    case date(Int64)
    case bytes([UInt8])
    /// The row that a to-one relationship leads to.
    case reference(RowID)
    /// The rows of a to-many relationship in order, each once.
    case list([RowID])
    /// Values without an order. Destinations of an unordered to-many relationship are references.
    case set(Set<SyncValue>)

    /// The rows that the value refers to.
    package var references: [RowID] {
        switch self {
        case .reference(let id): [id]
        case .list(let ids): ids
        case .set(let values): values.flatMap(\.references)
        default: []
        }
    }

    /// The value without a row, or nil if nothing is left of it.
    func removing(_ id: RowID) -> SyncValue? {
        switch self {
        case .reference(let destination): destination == id ? nil : self
        case .list(let ids): .list(ids.filter { $0 != id })
        case .set(let values): .set(values.subtracting([.reference(id)]))
        default: self
        }
    }

    /// The value with references to one row leading to another. A list has each row once, where it came first.
    func replacing(_ id: RowID, by other: RowID) -> SyncValue {
        switch self {
        case .reference(let destination): return destination == id ? .reference(other) : self
        case .list(let ids):
            var seen: Set<RowID> = []
            return .list(ids.map { $0 == id ? other : $0 }.filter { seen.insert($0).inserted })
        case .set(let values): return .set(Set(values.map { $0 == .reference(id) ? .reference(other) : $0 }))
        default: return self
        }
    }
}

/// A text that equals another if their bytes are equal. `String` takes a composed letter and a decomposed one for the
/// same, so that an edit from one to the other would be missed.
package struct ExactText: Codable, Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    package let string: String

    package init(_ string: String) { self.string = string }

    package init(stringLiteral value: String) { string = value }

    package init(from decoder: any Decoder) throws { string = try decoder.singleValueContainer().decode(String.self) }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }

    package static func == (one: ExactText, other: ExactText) -> Bool {
        one.string.utf8.elementsEqual(other.string.utf8)
    }

    package static func < (one: ExactText, other: ExactText) -> Bool {
        one.string.utf8.lexicographicallyPrecedes(other.string.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in string.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }
}

/// A number that equals another if their bits are equal: not a number equals itself, and -0 is not 0.
package struct ExactDouble: Codable, Hashable, Sendable {
    private let bits: UInt64

    package init(_ value: Double) { bits = value.bitPattern }

    package var value: Double { Double(bitPattern: bits) }
}

/// A row, by what it has on every device: the entity's renaming identifier and the model's `id`.
package struct RowID: Codable, Hashable, Comparable, Sendable {
    package let entity: String
    package let key: ExactText

    /// - Parameters:
    ///   - entity: the entity's renaming identifier.
    ///   - key: the identifier as text: a UUID, a number or a text of the user's.
    package init(_ entity: String, _ key: String) {
        self.entity = entity
        self.key = ExactText(key)
    }

    package static func < (one: RowID, other: RowID) -> Bool {
        one.entity == other.entity ? one.key < other.key : one.entity < other.entity
    }
}

/// The part of the data that a row belongs to, such as a team. Rows without one are for everybody.
package struct SyncScope: Codable, Hashable, Comparable, Sendable {
    package let name: ExactText

    package init(_ name: String) { self.name = ExactText(name) }

    package static func < (one: SyncScope, other: SyncScope) -> Bool { one.name < other.name }
}

/// A device, by the identifier that its store got when it was made.
package struct DeviceID: Codable, Hashable, Comparable, Sendable {
    package let name: String

    package init(_ name: String) { self.name = name }

    package static func < (one: DeviceID, other: DeviceID) -> Bool { one.name < other.name }
}

/// The number of a transaction in the server's history. Numbers grow, and none becomes visible after a greater one.
package typealias HistoryNumber = UInt64

/// The last change of a property on the server.
package struct Stamp: Codable, Hashable, Sendable {
    /// The transaction.
    package var number: HistoryNumber
    /// When the edit was made, in microseconds since 1970 by the server's clock.
    package var time: Int64
    /// Who made it; nil for the server's own rules.
    package var device: DeviceID?

    package init(number: HistoryNumber, time: Int64, device: DeviceID?) {
        self.number = number
        self.time = time
        self.device = device
    }
}

/// A row with its values by the properties' renaming identifiers.
package struct Row: Codable, Hashable, Sendable {
    package var values: [String: SyncValue]
    /// The last change of each property, on the server; none on a device.
    package var stamps: [String: Stamp] = [:]
    package var scope: SyncScope?

    package init(values: [String: SyncValue], stamps: [String: Stamp] = [:], scope: SyncScope? = nil) {
        self.values = values
        self.stamps = stamps
        self.scope = scope
    }

    /// The rows that this one refers to, with the properties that do.
    package func references() -> [(property: String, destination: RowID)] {
        values.flatMap { property, value in value.references.map { (property, $0) } }
    }
}

/// News of the server, and what a device has that the server has not taken, together: everything that decides what the
/// device's rows are afterwards.
package struct RebaseInput: Sendable {
    package var order: RebaseOrder
    /// The record as it is before.
    package var record: DeviceRecord
    package var schema: SyncSchema
    /// Downloaded rows of scopes or properties. When everything is replaced, the facts are about the downloaded rows
    /// instead of the present ones.
    package var staged: [PageChange] = []
    package var frozen: FrozenBatch?
    package var open: [OwnTransaction]
    /// Acknowledged transactions of batches after the order's last one: the server took them, and lost them.
    package var lost: [OwnTransaction] = []
    /// The rows that differ from the server's, and those that open, frozen and lost transactions change, with what the
    /// server last had; nil where it had none.
    package var dirty: [RowID: Row?] = [:]
    /// What is shown of those rows now; nil where nothing is.
    package var shown: [RowID: Row?] = [:]
    /// The server's rows of the scopes that the order leaves; not needed when everything is replaced.
    package var leaving: Set<RowID> = []
    /// Rows whose closures were noted for this step, and how often each was noted.
    package var noted: Set<RowID> = []
    package var attempts: [RowID: Int] = [:]

    package init(
        order: RebaseOrder, record: DeviceRecord, schema: SyncSchema, frozen: FrozenBatch?, open: [OwnTransaction]
    ) {
        self.order = order
        self.record = record
        self.schema = schema
        self.frozen = frozen
        self.open = open
    }

    var isReplacement: Bool { order.stage == .everything }

    /// The rows that a restored server had taken, and lost.
    var lostInsertions: Set<RowID> {
        guard let restored = order.restored else { return [] }
        let isFrozenLost = frozen.map { $0.request.batch > restored.lastDecided } ?? false
        let transactions = lost + (isFrozenLost ? frozen?.request.transactions ?? [] : [])
        return Set(
            transactions.lazy.flatMap(\.changes).compactMap { if case .insert = $0.edit { $0.id } else { nil } })
    }

    /// The page's transactions, and what was downloaded after them.
    var transactions: [PageTransaction] {
        if staged.isEmpty || isReplacement { return order.transactions }
        return order.transactions + [PageTransaction(number: order.end, time: 0, device: nil, changes: staged)]
    }
}

/// What a device writes in one transaction.
package struct RebasePlan: Sendable {
    /// The server's rows that have changed; nil for those that are gone.
    package var base: [RowID: Row?] = [:]
    /// What is shown of changed rows and of those that were or are different from the server's; nil for nothing.
    package var shown: [RowID: Row?] = [:]
    package var open: [OwnTransaction] = []
    /// What the server has taken, for the case that it loses it.
    package var acknowledged: [OwnTransaction] = []
    package var journal: [RefusedChange] = []
    /// Rows whose closures failed twice: the later edit decides.
    package var skippedClosures: Set<RowID> = []
}

package enum RebaseStep: Sendable {
    case needs(RowQuestions)
    /// Write down that the closures of these rows are about to run, and plan again.
    case note(Set<RowID>)
    case done(RebasePlan)
}

/// The page ends before the transactions that the server has taken: it was not asked for with `atLeast`.
package struct PageTooShort: Error, CustomStringConvertible {
    package let end: HistoryNumber
    package let settledAt: HistoryNumber

    package var description: String {
        "The page ends with transaction \(end), before \(settledAt), which has this device's last push. Ask for at least \(settledAt)."
    }
}
