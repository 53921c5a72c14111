import SyncPlanning

/// The schema of the simulation in three versions, and what its closures do.
///
/// Shelves have books in order; tags are joined by name, accounts renamed by code, slots refused by place. Version 2
/// adds a book's rating and a tag's color, version 3 a book's mood and wishes, and requires a kind of tickets.
enum TestSchemas {
    static let versions = 1...3

    static func schema(_ version: Int) -> SyncSchema {
        var book: [String: SyncProperty] = [
            "shelf": SyncProperty(.reference(whenDeleted: .deleteToo), isRequired: true),
            "title": SyncProperty(default: .text("")),
            "left": SyncProperty(default: .integer(0)),
            "right": SyncProperty(default: .integer(0)),
            "note": SyncProperty(default: .text(""), rule: .closure),
            "stock": SyncProperty(default: .integer(0), rule: .sum),
            "readUpTo": SyncProperty(default: .integer(0), rule: .larger),
            "marks": SyncProperty(.set, rule: .union),
            "tag": SyncProperty(.reference(whenDeleted: .clear)),
        ]
        var tag: [String: SyncProperty] = [
            "name": SyncProperty(isRequired: true), "count": SyncProperty(default: .integer(0), rule: .sum),
        ]
        if version >= 2 { tag["color"] = SyncProperty(default: .text("")) }
        if version >= 2 { book["rating"] = SyncProperty(default: .integer(0)) }
        if version >= 3 { book["mood"] = SyncProperty(default: .text("")) }
        var ticket: [String: SyncProperty] = ["title": SyncProperty(default: .text(""))]
        if version >= 3 { ticket["kind"] = SyncProperty(isRequired: true) }
        var entities: [String: SyncEntity] = [
            "Shelf": SyncEntity(
                [
                    "team": SyncProperty(isRequired: true), "name": SyncProperty(default: .text("")),
                    "books": SyncProperty(.list, rule: .list),
                ], scope: .property("team")),
            "Book": SyncEntity(book, scope: .owner("shelf")),
            "Tag": SyncEntity(
                tag, uniques: [UniqueRule(["name"], whenTaken: .join)]),
            "Account": SyncEntity(
                ["code": SyncProperty(isRequired: true), "title": SyncProperty(default: .text(""))],
                uniques: [UniqueRule(["code"], whenTaken: .rename)], whenDeleted: .keepEdits),
            "Slot": SyncEntity(
                ["place": SyncProperty(isRequired: true), "title": SyncProperty(default: .text(""))],
                uniques: [UniqueRule(["place"], whenTaken: .refuse)]),
            "Seed": SyncEntity(["value": SyncProperty(default: .integer(0)), "text": SyncProperty(default: .text(""))]),
            "Ticket": SyncEntity(ticket),
        ]
        if version >= 3 { entities["Wish"] = SyncEntity(["title": SyncProperty(default: .text(""))]) }
        return SyncSchema(entities)
    }

    /// The value that a migration gives a property without a default.
    static func migrated(_ property: String) -> SyncValue { property == "kind" ? .text("plain") : .null }

    /// Notes are words: theirs first, then those of mine that are not among them.
    static func merge(
        _ old: [String: SyncValue]?, _ mine: [String: SyncValue], _ theirs: [String: SyncValue]
    ) -> [String: SyncValue] {
        let theirWords = words(theirs["note"])
        let added = words(mine["note"]).filter { !theirWords.contains($0) }
        var result = mine
        result["note"] = .text(ExactText((theirWords + added).joined(separator: " ")))
        return result
    }

    static func rename(_ values: [String: SyncValue], _ properties: [String]) -> [String: SyncValue] {
        var values = values
        for property in properties {
            if case .text(let text) = values[property] { values[property] = .text(ExactText(text.string + "+")) }
        }
        return values
    }

    static func words(_ value: SyncValue?) -> [String] {
        guard case .text(let text) = value else { return [] }
        return text.string.split(separator: " ").map(String.init)
    }

    /// The scope of a row, found anew: the simulation does not trust the planner's.
    static func scope(of id: RowID, in rows: [RowID: Row]) -> SyncScope? {
        guard let row = rows[id] else { return nil }
        switch id.entity {
        case "Shelf":
            if case .text(let team) = row.values["team"] { return SyncScope(team.string) }
            return nil
        case "Book":
            guard case .reference(let shelf) = row.values["shelf"] else { return nil }
            return scope(of: shelf, in: rows)
        default: return nil
        }
    }
}

/// Rows as text, in one order: equal rows have equal text.
enum Rendering {
    static func text(of rows: [RowID: Row]) -> String {
        rows.sorted { $0.key < $1.key }.map { text(of: $0.key) + ": " + text(of: $0.value.values) }
            .joined(separator: "\n")
    }

    static func text(of id: RowID) -> String { id.entity + "/" + id.key.string }

    static func text(of values: [String: SyncValue]) -> String {
        values.sorted { $0.key < $1.key }.map { "\($0.key)=\(text(of: $0.value))" }.joined(separator: ", ")
    }

    static func text(of value: SyncValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "\(value.value)"
        case .decimal(let digits): digits
        case .text(let text): "'\(text.string)'"
        case .date(let time): "@\(time)"
        case .bytes(let bytes): "\(bytes)"
        case .reference(let id): text(of: id)
        case .list(let ids): "[" + ids.map { text(of: $0) }.joined(separator: " ") + "]"
        case .set(let values): "{" + values.map { text(of: $0) }.sorted().joined(separator: " ") + "}"
        }
    }
}

extension Rendering {
    /// A reason without what it is about.
    static func name(of reason: RefusalReason) -> String { String("\(reason)".prefix { $0 != "(" }) }
}

/// The sum of what happened, so that two runs can be compared.
struct TraceSum {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ text: String) {
        for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
}
