import CoreData
import StoreEngine

/// Writes all objects of an entity as JSON, from the rows as they are read: no value is made twice.
///
/// What is said of an object beside its values is written by `DumpJSON`, which takes an object as a whole: one with a
/// value that is not there or cannot be read, a long one, a reference that leads to no object.
struct ObjectJSONStream {
    /// A property. A class, since a loop over structs would retain and release each of their members for each object.
    private final class Part {
        enum Kind { case attribute, toOne, toMany }

        let kind: Kind
        /// `, "title": `
        let head: [UInt8]
        /// The slot of an attribute or a to-one relationship.
        let slot: Int
        let attribute: AttributeLayout?
        let isBoolean: Bool
        /// The beginning of the URIs of the objects that a relationship leads to; empty for an attribute.
        let prefix: [UInt8]

        init(_ kind: Kind, _ name: String, slot: Int, _ attribute: AttributeLayout?, _ prefix: [UInt8]) {
            var head: [UInt8] = []
            JSONText.append(member: ObjectHead.property(name), to: &head)
            (self.kind, self.head, self.slot, self.prefix) = (kind, head, slot, prefix)
            (self.attribute, isBoolean) = (attribute, attribute?.type == .booleanAttributeType)
        }
    }

    private let store: StoreObjects
    private let entity: EntityLayout
    private let parts: [Part]
    private let toManys: [RelationshipLayout]
    /// `{"objectID": "x-coredata://…/Book/p`
    private let head: [UInt8]

    /// How many bytes are written at a time.
    private static let piece = 1 << 15
    private static let separator = Array("\", \"".utf8)

    /// Nil for an entity whose objects are not read row by row, or lead to objects of several entities.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - entity: the entity; objects of subentities are left out.
    init?(_ store: StoreObjects, _ entity: EntityLayout) {
        guard store.isSorted else { return nil }
        func prefix(_ entity: EntityLayout) -> [UInt8] {
            let uri = NSManagedObjectID(layout: entity, store: store.store.identity, key: 1).uriText
            var bytes: [UInt8] = []
            JSONText.append(uri, to: &bytes)
            // Without the number and the quotation mark.
            return bytes.dropLast(2)
        }
        var parts: [Part] = []
        for (index, slot) in entity.slots.enumerated() where !slot.isTransient && slot.attribute != nil {
            parts.append(Part(.attribute, slot.name, slot: index, slot.attribute, []))
        }
        for relationship in entity.relationships where !relationship.isTransient {
            guard relationship.destination.selfAndSubentities.count == 1 else { return nil }
            let slot = relationship.isToMany ? -1 : relationship.slot
            parts.append(
                Part(
                    relationship.isToMany ? .toMany : .toOne, relationship.name, slot: slot, nil,
                    prefix(relationship.destination)))
        }
        (self.store, self.entity, self.parts) = (store, entity, parts)
        toManys = entity.toManys.filter { !$0.isTransient }
        var head = Array("{".utf8)
        JSONText.append(ObjectHead.name, to: &head)
        self.head = head + Array(": ".utf8) + prefix(entity)
    }

    /// Writes the objects, by primary key.
    ///
    /// - Parameters:
    ///   - first: the text before the first object.
    ///   - others: the text before each other one.
    ///   - output: takes the text.
    /// - Returns: whether there was an object.
    /// - Throws: errors of the store, and those of `output`; what was read before is written.
    func write(from first: String, then others: String, _ output: (String) throws -> Void) throws -> Bool {
        try store.coordinator.performAndWait { () throws in
            let dangling = try store.danglingReferences(of: entity)
            var plan = store.plan(entity)
            plan.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)]
            var writer = Writer(stream: self, dangling: dangling, starts: (Array(first.utf8), Array(others.utf8)))
            do {
                try toManys.isEmpty ? writeRows(plan, &writer, output) : writePortions(plan, &writer, output)
            } catch {
                try writer.flush(output)
                throw error
            }
            try writer.flush(output)
            return writer.hasBegun
        }
    }

    private func writeRows(_ plan: FetchPlan, _ writer: inout Writer, _ output: (String) throws -> Void) throws {
        var failure: (any Error)?
        try store.store.engine.forEachRow(plan) { row in
            do {
                if try !writer.append(row.key, { try row.value(at: $0) }, lists: []) {
                    try writer.write(try row.whole(), output) { _ in [] }
                }
                try writer.flush(output, least: Self.piece)
            } catch { failure = error }
            return failure == nil
        }
        if let failure { throw failure }
    }

    private func writePortions(_ plan: FetchPlan, _ writer: inout Writer, _ output: (String) throws -> Void) throws {
        let engine = store.store.engine
        let portions = try engine.portions(plan)
        var size = PortionSize(most: 256)
        while case let rows = try portions.next(size.count), !rows.isEmpty {
            size.follow(rows)
            let identifiers = rows.map(\.objectID)
            var lists: [KeyLists] = []
            for relationship in toManys {
                lists.append(try KeyLists(of: relationship, for: identifiers, engine))
            }
            for (place, row) in rows.enumerated() {
                let keys = lists.map { $0[place] }
                if try !writer.append(row.objectID.key, { row.values[$0] }, lists: keys) {
                    try writer.write(row, output) { relationship in
                        try engine.destinations(of: relationship, for: [row.objectID]).first ?? []
                    }
                }
                try writer.flush(output, least: Self.piece)
            }
        }
    }

    /// The keys at the end of a to-many relationship, for some objects.
    private struct KeyLists {
        private var keys: [Int64] = []
        private var ranges: [Range<Int>]

        init(
            of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID], _ engine: any StoreEngine
        ) throws {
            var (keys, ranges) = ([Int64](), [Range<Int>](repeating: 0..<0, count: identifiers.count))
            try engine.forEachKey(atEndOf: relationship, for: identifiers) { place, key in
                if ranges[place].isEmpty { ranges[place] = keys.count..<keys.count }
                keys.append(key)
                ranges[place] = ranges[place].lowerBound..<keys.count
            }
            if !relationship.isOrdered {
                for range in ranges where range.count > 1 { keys[range].sort() }
            }
            (self.keys, self.ranges) = (keys, ranges)
        }

        subscript(place: Int) -> ArraySlice<Int64> { keys[ranges[place]] }
    }

    /// The text that is not written yet.
    private struct Writer {
        let stream: ObjectJSONStream
        let dangling: [String: [Int64: [NSManagedObjectID]]]
        let starts: (first: [UInt8], others: [UInt8])
        private let parts: [Part]
        private(set) var hasBegun = false
        private var bytes: [UInt8] = []

        init(
            stream: ObjectJSONStream, dangling: [String: [Int64: [NSManagedObjectID]]],
            starts: (first: [UInt8], others: [UInt8])
        ) {
            (self.stream, self.starts, parts) = (stream, starts, stream.parts)
            self.dangling = dangling.filter { !$0.value.isEmpty }
            bytes.reserveCapacity(2 * ObjectJSONStream.piece)
        }

        /// Writes what is there, if it has so many bytes.
        mutating func flush(_ output: (String) throws -> Void, least: Int = 1) throws {
            guard bytes.count >= least else { return }
            defer { bytes.removeAll(keepingCapacity: true) }
            try output(String(decoding: bytes, as: UTF8.self))
        }

        /// Writes an object as a whole.
        mutating func write(
            _ row: Row, _ output: (String) throws -> Void, related: (RelationshipLayout) throws -> [NSManagedObjectID]
        ) throws {
            try flush(output)
            let object = try ObjectRecord(row, of: stream.entity, dangling: dangling, related: related)
            try DumpJSON.write(
                object, ValueStyle(), from: String(decoding: hasBegun ? starts.others : starts.first, as: UTF8.self),
                output)
            hasBegun = true
        }

        /// Appends an object.
        ///
        /// - Parameters:
        ///   - key: its number.
        ///   - value: its value in a slot.
        ///   - lists: the keys at the ends of its to-many relationships.
        /// - Returns: false for an object that has to be written as a whole; nothing is appended then.
        /// - Throws: the errors of `value`.
        mutating func append(
            _ key: Int64, _ value: (Int) throws -> StoredValue, lists: [ArraySlice<Int64>]
        ) throws -> Bool {
            if !dangling.isEmpty, dangling.values.contains(where: { $0[key] != nil }) { return false }
            let start = bytes.count
            bytes += hasBegun ? starts.others : starts.first
            bytes += stream.head
            JSONText.append(key, to: &bytes)
            bytes.append(UInt8(ascii: "\""))
            var list = lists.startIndex
            for part in parts {
                bytes += part.head
                switch part.kind {
                case .attribute:
                    guard append(try value(part.slot), part) else {
                        bytes.removeLast(bytes.count - start)
                        return false
                    }
                case .toOne:
                    switch try value(part.slot) {
                    case .null: bytes += DumpJSON.null
                    case .identifier(let identifier):
                        bytes += part.prefix
                        JSONText.append(identifier.key, to: &bytes)
                        bytes.append(UInt8(ascii: "\""))
                    default:
                        bytes.removeLast(bytes.count - start)
                        return false
                    }
                case .toMany:
                    append(lists[list], part.prefix)
                    list += 1
                }
            }
            bytes.append(UInt8(ascii: "}"))
            hasBegun = true
            return true
        }

        private mutating func append(_ value: StoredValue, _ part: Part) -> Bool {
            switch value {
            case .null: bytes += DumpJSON.null
            case .integer(let number) where !part.isBoolean: JSONText.append(number, to: &bytes)
            case .string(let text) where text.utf8.count < ObjectJSONStream.piece: JSONText.append(text, to: &bytes)
            default:
                guard let attribute = part.attribute else { return false }
                let field = FieldValue(value, attribute)
                guard field.gap == nil, !LongText.isLong(field) else { return false }
                DumpJSON.append(field, to: &bytes)
            }
            return true
        }

        private mutating func append(_ keys: ArraySlice<Int64>, _ prefix: [UInt8]) {
            bytes.append(UInt8(ascii: "["))
            var isFirst = true
            for key in keys {
                if isFirst {
                    bytes += prefix
                    isFirst = false
                } else {
                    bytes += ObjectJSONStream.separator
                    // Without its quotation mark, which the separator has.
                    bytes += prefix[1...]
                }
                JSONText.append(key, to: &bytes)
            }
            if !isFirst { bytes.append(UInt8(ascii: "\"")) }
            bytes.append(UInt8(ascii: "]"))
        }
    }
}
