import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Invoice: CoreModel, Equatable {
    struct Place: Codable, Equatable, Sendable {
        var city: String
        var zip: Int?
    }

    let id: Int
    var title: String?
    var due: Date?
    var total: Double
    var place: Place?
    var lines: [Line]
    var marks: Set<Mark>

    static var schema: Schema<Invoice> { Schema(.owns(\.lines), .owns(\.marks)) }
}

private struct Line: CoreModel, Equatable {
    let id: Int
    var text: String
    var amount: Decimal?
}

private struct Mark: CoreModel, Hashable {
    let id: String
    var weight: Int
}

@Suite("Saving models as rows, and as objects of a context")
struct WaysOfSavingTests {
    private let stores: BothWays

    init() throws { stores = try BothWays { PersistenceManager(models: Invoice.self, store: $0) } }

    @Test("leave the same rows, keys, versions and changes behind, whatever is saved", arguments: 1...BothWays.series)
    func random(seed: UInt64) throws {
        var random = Steps(seed: seed)
        var known: [Invoice] = []
        for step in 1...12 {
            let changed = random.invoices(known)
            try stores.save(changed)
            for invoice in changed {
                known.removeAll { $0.id == invoice.id }
                // A line that comes to another invoice leaves the one that it was in.
                let taken = Set(invoice.lines.map(\.id))
                for index in known.indices { known[index].lines.removeAll { taken.contains($0.id) } }
                known.append(invoice)
            }
            #expect(try stores.contentOfRows() == stores.contentOfObjects(), "step \(step)")
            let stored = try stores.rows.readAndWait { try $0.fetch(Invoice.self, sortedBy: .ascending(\.id)) }
            #expect(stored == known.sorted { $0.id < $1.id }, "step \(step)")
        }
    }

    @Test("write nothing where nothing has changed")
    func unchanged() throws {
        var random = Steps(seed: 7)
        let invoices = random.invoices([])
        try stores.save(invoices)
        let before = try stores.contentOfRows()
        let size = try plainNumber("SELECT COUNT(*) FROM ATRANSACTION", in: stores.file)
        try stores.rows.writeAndWait { try $0.save(invoices) }
        #expect(try stores.contentOfRows() == before)
        #expect(try plainNumber("SELECT COUNT(*) FROM ATRANSACTION", in: stores.file) == size)
    }

    @Test("are reported as saves of a context: by notifications with objects, and to contexts that merge")
    func notifications() throws {
        var random = Steps(seed: 3)
        let invoices = random.invoices([])
        try stores.rows.writeAndWait { _ in }
        let heard = Locked<[String]>([])
        let coordinator = ObjectIdentifier(stores.rows.container.persistentStoreCoordinator)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
        ) { note in
            guard let context = note.object as? NSManagedObjectContext,
                context.persistentStoreCoordinator.map(ObjectIdentifier.init) == coordinator,
                let inserted = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>
            else { return }
            heard.withLock { $0 += inserted.map { "\($0.entity.name ?? "") \($0.value(forKey: "id") ?? "")" } }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try stores.rows.writeAndWait { try $0.save(invoices) }
        let expected =
            invoices.map { "Invoice \($0.id)" } + invoices.flatMap(\.lines).map { "Line \($0.id)" }
            + invoices.flatMap(\.marks).map { "Mark \($0.id)" }
        #expect(heard.withLock { $0.sorted() } == expected.sorted())
    }

    @Test("refuse the same models: known ones to be inserted, unknown ones to be changed")
    func refusals() throws {
        let invoice = Invoice(id: 1, total: 5, lines: [], marks: [])
        try stores.save([invoice])
        for isDirect in [true, false] {
            let known = #expect(throws: PersistenceError.self) {
                try stores.rows.writeAndWait { store in
                    store.access.savesRows = isDirect
                    try store.insert(invoice)
                }
            }
            #expect(known?.code == .alreadyStored)
            let unknown = #expect(throws: PersistenceError.self) {
                try stores.rows.writeAndWait { store in
                    store.access.savesRows = isDirect
                    try store.update(Invoice(id: 2, total: 5, lines: [], marks: []))
                }
            }
            #expect(unknown?.code == .notFound)
        }
    }

    @Test("see what the block has saved before, in whatever it asks next")
    func laterQuestions() throws {
        let invoice = Invoice(id: 1, total: 5, lines: [Line(id: 1, text: "Tea")], marks: [])
        try stores.rows.writeAndWait { store in
            try store.save(invoice)
            #expect(try store.find(Invoice.self, id: 1) == invoice)
            #expect(try store.count(Line.self) == 1)
            #expect(try store.sum(Invoice.self, \.total) == 5)
            try store.save(Invoice(id: 2, total: 6, lines: [], marks: []))
        }
        #expect(try stores.rows.readAndWait { try $0.count(Invoice.self) } == 2)
    }
}

extension Invoice {
    fileprivate init(id: Int, total: Double, lines: [Line], marks: Set<Mark>) {
        self.init(id: id, title: nil, due: nil, total: total, place: nil, lines: lines, marks: marks)
    }
}

extension Line {
    fileprivate init(id: Int, text: String) { self.init(id: id, text: text, amount: nil) }
}

/// Made-up saves, the same for each seed.
private struct Steps {
    private var numbers: SeededNumbers

    init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

    private mutating func number(_ count: Int) -> Int { numbers.next(below: count) }

    private mutating func value() -> Double { Double(number(8)) / 2 }

    /// Some of the known invoices, changed or not, and some new ones.
    mutating func invoices(_ known: [Invoice]) -> [Invoice] {
        var invoices: [Invoice] = []
        var taken: Set<Int> = []
        for _ in 0...number(4) {
            let former = known.isEmpty || number(3) == 0 ? nil : known[number(known.count)]
            var invoice = former ?? Invoice(id: number(40), total: value(), lines: [], marks: [])
            if invoices.contains(where: { $0.id == invoice.id }) { continue }
            if former == nil, known.contains(where: { $0.id == invoice.id }) { continue }
            if number(2) == 0 { invoice.title = ["Tea", "Cake", nil][number(3)] }
            if number(3) == 0 { invoice.due = number(3) == 0 ? nil : Date(timeIntervalSinceReferenceDate: value()) }
            if number(3) == 0 {
                invoice.place = number(3) == 0 ? nil : .init(city: "Bath", zip: number(2) == 0 ? nil : 7)
            }
            changeLines(of: &invoice)
            changeMarks(of: &invoice)
            invoice.lines.removeAll { !taken.insert($0.id).inserted }
            invoices.append(invoice)
        }
        return invoices
    }

    private mutating func changeLines(of invoice: inout Invoice) {
        for _ in 0..<number(4) {
            switch number(5) {
            case 0 where !invoice.lines.isEmpty: invoice.lines.remove(at: number(invoice.lines.count))
            case 1 where !invoice.lines.isEmpty: invoice.lines[number(invoice.lines.count)].text = "line \(number(5))"
            case 2 where invoice.lines.count > 1: invoice.lines.swapAt(0, number(invoice.lines.count))
            default:
                // Now and then one that another invoice has.
                let line = Line(id: number(60), text: "line", amount: number(2) == 0 ? nil : Decimal(number(9)))
                guard !invoice.lines.contains(where: { $0.id == line.id }) else { continue }
                invoice.lines.insert(line, at: number(invoice.lines.count + 1))
            }
        }
    }

    private mutating func changeMarks(of invoice: inout Invoice) {
        let name = "\(invoice.id)-\(number(3))"
        switch number(4) {
        case 0: invoice.marks = invoice.marks.filter { $0.id != name }
        case 1: invoice.marks = Set(invoice.marks.filter { $0.id != name } + [Mark(id: name, weight: number(3))])
        default: break
        }
    }
}
