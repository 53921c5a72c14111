import SyncPlanning
import TestSupport

/// A user who does something with the rows that a device shows.
struct Program {
    private let shown: [RowID: Row]
    private let version: Int
    /// A word that is used once.
    private let word: String
    private let name: String
    private let number: UInt64
    private let random: UInt64

    init(device: SimulatedDevice, random: UInt64) {
        shown = device.shown
        version = device.version
        name = device.id.name
        number = device.nextNumber
        word = "\(device.id.name).\(device.nextNumber)"
        self.random = random
    }

    private func rows(_ entity: String) -> [RowID] { shown.keys.filter { $0.entity == entity }.sorted() }

    func edits() -> (edits: [RowID: ProgramEdit], order: [RowID]) {
        var random = SplitMix(state: random)
        var edits: [RowID: ProgramEdit] = [:]
        var order: [RowID] = []
        func add(_ id: RowID, _ edit: ProgramEdit) {
            if edits[id] == nil { order.append(id) }
            edits[id] = edit
        }
        // Mostly the same few, so that programs meet.
        func pick(_ entity: String) -> RowID? {
            let rows = rows(entity)
            return (Int.random(in: 0..<4, using: &random) > 0 ? Array(rows.prefix(2)) : rows).randomElement(
                using: &random)
        }
        func text(_ text: String) -> SyncValue { .text(ExactText(text)) }
        let books = rows("Book")
        switch Int.random(in: 0..<28, using: &random) {
        case 0:
            let team = Int.random(in: 0..<3, using: &random) > 0 ? "red" : "blue"
            add(RowID("Shelf", word), .insert(["team": text(team), "name": text(word)]))
        case 1, 2, 3:
            guard let shelf = pick("Shelf"), case .list(var members) = shown[shelf]?.values["books"] else { break }
            let book = RowID("Book", word)
            var values: [String: SyncValue] = [
                "shelf": .reference(shelf), "title": text(word), "marks": .set([text(word)]),
            ]
            if let tag = pick("Tag"), Bool.random(using: &random) { values["tag"] = .reference(tag) }
            if version >= 3, Bool.random(using: &random) { values["mood"] = text(word) }
            add(book, .insert(values))
            members.insert(book, at: Int.random(in: 0...members.count, using: &random))
            add(shelf, .set(["books": .list(members)]))
        case 6, 7, 24, 25:
            guard let book = pick("Book") else { break }
            add(book, .set(["title": text(word)]))
            if let other = pick("Book"), other != book { add(other, .set(["title": text(word)])) }
        case 8:
            guard let book = pick("Book") else { break }
            add(book, .set(["left": .integer(Int64(number)), "right": .integer(Int64(number))]))
        case 9, 10, 26, 27:
            guard let book = pick("Book") else { break }
            let isPoisoned = Int.random(in: 0..<12, using: &random) == 0
            let words = TestSchemas.words(shown[book]?.values["note"]) + [word] + (isPoisoned ? ["poison"] : [])
            add(book, .set(["note": text(words.joined(separator: " ")), "title": text(word)]))
        case 11, 12:
            guard let book = pick("Book"), case .integer(let stock) = shown[book]?.values["stock"],
                case .integer(let readUpTo) = shown[book]?.values["readUpTo"]
            else { break }
            add(book, .set(["stock": .integer(stock + 1), "readUpTo": .integer(readUpTo + 1)]))
        case 4, 5, 13:
            guard let book = pick("Book"), case .set(let marks) = shown[book]?.values["marks"] else { break }
            add(book, .set(["marks": .set(marks.union([text(word)]))]))
        case 14:
            guard let shelf = pick("Shelf"), case .list(var members) = shown[shelf]?.values["books"], members.count > 1
            else { break }
            members.insert(members.remove(at: members.count - 1), at: 0)
            add(shelf, .set(["books": .list(members)]))
        case 15:
            guard let book = pick("Book") else { break }
            delete(book, add)
        case 16:
            guard let shelf = pick("Shelf"), Int.random(in: 0..<3, using: &random) == 0 else { break }
            for book in books where shown[book]?.values["shelf"] == .reference(shelf) { add(book, .delete) }
            add(shelf, .delete)
        case 17:
            guard let shelf = pick("Shelf") else { break }
            add(
                shelf,
                .set(["team": text(Int.random(in: 0..<4, using: &random) > 0 ? "red" : "blue"), "name": text(word)]))
        case 18:
            let name = "tag \(Int.random(in: 0..<4, using: &random))"
            guard !rows("Tag").contains(where: { shown[$0]?.values["name"] == text(name) }) else { break }
            add(RowID("Tag", word), .insert(["name": text(name), "count": .integer(1)]))
        case 19:
            guard let tag = pick("Tag"), case .integer(let count) = shown[tag]?.values["count"] else { break }
            if Int.random(in: 0..<5, using: &random) == 0 {
                for book in books where shown[book]?.values["tag"] == .reference(tag) {
                    add(book, .set(["tag": .null]))
                }
                add(tag, .delete)
            } else {
                add(tag, .set(["count": .integer(count + 1)]))
                if let book = pick("Book") { add(book, .set(["tag": .reference(tag)])) }
            }
        case 20:
            let entity = Bool.random(using: &random) ? "Account" : "Slot"
            let property = entity == "Account" ? "code" : "place"
            let value = text("\(Int.random(in: 0..<5, using: &random))")
            if let row = pick(entity), Bool.random(using: &random) {
                if Int.random(in: 0..<3, using: &random) == 0 {
                    add(row, .delete)
                } else {
                    add(row, .set(["title": text(word)]))
                }
            } else if !rows(entity).contains(where: { shown[$0]?.values[property] == value }) {
                add(RowID(entity, word), .insert([property: value, "title": text(word)]))
            }
        case 21:
            let seed = RowID("Seed", "\(Int.random(in: 0..<3, using: &random))")
            if shown[seed] == nil {
                add(seed, .insert(["value": .integer(1), "text": text(word)]))
            } else if Int.random(in: 0..<3, using: &random) == 0 {
                add(seed, .delete)
            } else {
                add(seed, .set(["value": .integer(Int64(number)), "text": text(word)]))
            }
        case 22:
            guard let book = pick("Book"), version >= 2 else { break }
            var values: [String: SyncValue] = ["rating": .integer(Int64(number)), "title": text(word)]
            if version >= 3 { values["mood"] = text(word) }
            add(book, .set(values))
            if let tag = pick("Tag") { add(tag, .set(["color": text(word)])) }
        default:
            if version >= 3, Bool.random(using: &random) {
                add(RowID("Wish", word), .insert(["title": text(word)]))
            } else if Int.random(in: 0..<4, using: &random) == 0 {
                var values = ["title": text(word)]
                if version >= 3 { values["kind"] = text("fine") }
                add(RowID("Ticket", word), .insert(values))
            }
        }
        return (edits, order)
    }

    private func delete(_ book: RowID, _ add: (RowID, ProgramEdit) -> Void) {
        for shelf in rows("Shelf") {
            if case .list(let members) = shown[shelf]?.values["books"], members.contains(book) {
                add(shelf, .set(["books": .list(members.filter { $0 != book })]))
            }
        }
        add(book, .delete)
    }
}
