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
    private let folder: TestFolder
    private let rows: PersistenceManager
    private let objects: PersistenceManager

    init() throws {
        let folder = try TestFolder()
        self.folder = folder
        func manager(_ name: String) -> PersistenceManager {
            let manager = PersistenceManager(models: Invoice.self, store: .file(folder.file(name)))
            manager.container.persistentStoreDescriptions.first?.setOption(
                true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
            return manager
        }
        (rows, objects) = (manager("rows.sqlite"), manager("objects.sqlite"))
    }

    private func save(_ invoices: [Invoice]) throws {
        try rows.writeAndWait { try $0.save(invoices) }
        try objects.writeAndWait { store in
            store.access.savesRows = false
            try store.save(invoices)
        }
    }

    /// What a file holds that both ways must agree on: rows with their keys and versions, and the history's changes.
    private func content(_ name: String) throws -> [String] {
        let store = folder.file(name)
        var content: [String] = []
        for table in ["ZINVOICE", "ZLINE", "ZMARK", "Z_PRIMARYKEY WHERE Z_ENT < 16000"] {
            for row in try plainRows("SELECT * FROM \(table)", in: store) {
                content.append("\(table): \(row.map { $0 ?? "NULL" })")
            }
        }
        let changes = try plainRows(
            """
            SELECT ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK, hex(ZCOLUMNS) FROM ACHANGE
            ORDER BY ZTRANSACTIONID, ZENTITY, ZENTITYPK, ZCHANGETYPE
            """, in: store)
        return content + changes.map { "change: \($0.map { $0 ?? "NULL" })" }
    }

    /// How many series of saves are made up.
    static let series = ProcessInfo.processInfo.environment["PIPPIN_SAVES"].flatMap(UInt64.init) ?? 12

    @Test("leave the same rows, keys, versions and changes behind, whatever is saved", arguments: 1...series)
    func random(seed: UInt64) throws {
        var random = Steps(seed: seed)
        var known: [Invoice] = []
        for step in 1...12 {
            let changed = random.invoices(known)
            try save(changed)
            for invoice in changed {
                known.removeAll { $0.id == invoice.id }
                // A line that comes to another invoice leaves the one that it was in.
                let taken = Set(invoice.lines.map(\.id))
                for index in known.indices { known[index].lines.removeAll { taken.contains($0.id) } }
                known.append(invoice)
            }
            #expect(try content("rows.sqlite") == content("objects.sqlite"), "step \(step)")
            let stored = try rows.readAndWait { try $0.fetch(Invoice.self, sortedBy: .ascending(\.id)) }
            #expect(stored == known.sorted { $0.id < $1.id }, "step \(step)")
        }
    }

    @Test("write nothing where nothing has changed")
    func unchanged() throws {
        var random = Steps(seed: 7)
        let invoices = random.invoices([])
        try save(invoices)
        let before = try content("rows.sqlite")
        let size = try plainNumber("SELECT COUNT(*) FROM ATRANSACTION", in: folder.file("rows.sqlite"))
        try rows.writeAndWait { try $0.save(invoices) }
        #expect(try content("rows.sqlite") == before)
        #expect(try plainNumber("SELECT COUNT(*) FROM ATRANSACTION", in: folder.file("rows.sqlite")) == size)
    }

    @Test("are told of as saves of a context: by notifications with objects, and to contexts that merge")
    func notifications() throws {
        var random = Steps(seed: 3)
        let invoices = random.invoices([])
        try rows.writeAndWait { _ in }
        let heard = Locked<[String]>([])
        let coordinator = ObjectIdentifier(rows.container.persistentStoreCoordinator)
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
        try rows.writeAndWait { try $0.save(invoices) }
        let expected =
            invoices.map { "Invoice \($0.id)" } + invoices.flatMap(\.lines).map { "Line \($0.id)" }
            + invoices.flatMap(\.marks).map { "Mark \($0.id)" }
        #expect(heard.withLock { $0.sorted() } == expected.sorted())
    }

    @Test("refuse the same models: known ones to be inserted, unknown ones to be changed")
    func refusals() throws {
        let invoice = Invoice(id: 1, total: 5, lines: [], marks: [])
        try save([invoice])
        for isDirect in [true, false] {
            let known = #expect(throws: PersistenceError.self) {
                try rows.writeAndWait { store in
                    store.access.savesRows = isDirect
                    try store.insert(invoice)
                }
            }
            #expect(known?.code == .alreadyStored)
            let unknown = #expect(throws: PersistenceError.self) {
                try rows.writeAndWait { store in
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
        try rows.writeAndWait { store in
            try store.save(invoice)
            #expect(try store.find(Invoice.self, id: 1) == invoice)
            #expect(try store.count(Line.self) == 1)
            #expect(try store.sum(Invoice.self, \.total) == 5)
            try store.save(Invoice(id: 2, total: 6, lines: [], marks: []))
        }
        #expect(try rows.readAndWait { try $0.count(Invoice.self) } == 2)
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
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    private mutating func number(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(count))
    }

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
