import Pippin
import Testing

private struct Note: CoreModel, Equatable {
    let id: Int
    var text: String
}

private struct Maker: CoreModel, Equatable {
    let id: String
    var name: String
    var born: Int?
}

private struct Size: Codable, Equatable {
    var unit: String
}

private struct Product: CoreModel, Equatable {
    static let schema = Schema<Product>(.owns(\.notes))
    let id: String
    var title: String
    var price: Int
    var remark: String?
    var size: Size?
    var maker: Maker?
    var notes: [Note]?
}

@Suite("Imports of CSV files without columns for some properties")
struct PartialImportTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }
    private let lamp = Product(
        id: "lamp", title: "Lamp", price: 9, remark: "dim", size: Size(unit: "cm"),
        maker: Maker(id: "ada", name: "Ada", born: 1815), notes: [Note(id: 1, text: "new bulb")])

    init() throws { counter = try Counter(Product.self) }

    private func `import`(_ text: String) async throws -> ImportReport {
        let file = counter.folder.file("products.csv")
        try Data(text.utf8).write(to: file)
        return try await manager.importCSV(Product.self, from: file)
    }

    @Test("leave these properties of stored models as they are, and what the models own")
    func kept() async throws {
        try await manager.save(lamp)
        let report = try await `import`("id,title,price\nlamp,Lamp,12\nchair,Chair,40\n")
        #expect(report.updated == 1 && report.inserted == 1)
        var expected = lamp
        expected.price = 12
        #expect(try await manager.find(Product.self, id: "lamp") == expected)
        let chair = Product(id: "chair", title: "Chair", price: 40)
        #expect(try await manager.find(Product.self, id: "chair") == chair)
    }

    @Test("leave these properties of the models within them as they are")
    func inner() async throws {
        try await manager.save(lamp)
        _ = try await `import`("id,title,price,maker.id,maker.name\nlamp,Lamp,9,ada,Ada Lovelace\n")
        #expect(try await manager.find(Maker.self, id: "ada") == Maker(id: "ada", name: "Ada Lovelace", born: 1815))
    }

    @Test("set to nil what has a column and no value in it")
    func empty() async throws {
        try await manager.save(lamp)
        _ = try await `import`("id,title,price,remark,maker\nlamp,Lamp,9,,\n")
        let stored = try await manager.find(Product.self, id: "lamp")
        #expect(stored?.remark == nil && stored?.maker == nil)
        #expect(stored?.notes == lamp.notes && stored?.size == lamp.size)
    }

    @Test("are refused if one of several models of a type lacks a column that another one has: its value would be lost")
    func otherColumns() async throws {
        struct Play: CoreModel {
            let id: String
            var author: Maker?
            var editor: Maker?
        }
        let counter = try Counter(Play.self)
        let file = counter.folder.file("plays.csv")
        func load(_ text: String) async throws -> ImportReport {
            try Data(text.utf8).write(to: file)
            return try await counter.manager.importCSV(Play.self, from: file)
        }
        let error = await #expect(throws: PersistenceError.self) {
            try await load("id,author.id,author.name,author.born,editor.id,editor.name\n1,a,Ann,1800,b,Bea\n")
        }
        #expect(error?.code == .fileNotReadable)
        #expect(error?.description.contains("“editor.born”") == true)
        #expect(try await load("id,author.id,author.name,editor.id,editor.name\n1,a,Ann,b,Bea\n").inserted == 1)
    }

    @Test("take an empty text in quotes as the value of a nested struct, but not as a model")
    func quoted() async throws {
        _ = try await `import`("id,title,price,size.unit,maker.id,maker.name\nlamp,Lamp,9,\"\",\"\",\"\"\n")
        let stored = try await manager.find(Product.self, id: "lamp")
        #expect(stored?.size == Size(unit: "") && stored?.maker == nil)
    }
}

    @Test(
        "take empty texts in quotes for no nested struct if it needs more than texts: programs put all fields in quotes"
    )
    func quotedStruct() async throws {
        struct Extent: Codable, Equatable {
            var unit: String
            var width: Int
            var depth: Int?
        }
        struct Shelf: CoreModel, Equatable {
            let id: Int
            var extent: Extent?
        }
        let counter = try Counter(Shelf.self)
        let file = counter.folder.file("shelves.csv")
        let lines = [
            #""id","extent.unit","extent.width","extent.depth""#, #""1","","","""#, #""2","","7","""#,
            #""3","cm","","""#,
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        let report = try await counter.manager.importCSV(Shelf.self, from: file)
        #expect(report.refused.map(\.position) == [4])
        #expect(report.refused.first?.reason.contains("“extent.width”") == true)
        let shelves = try await counter.manager.fetch(Shelf.self, sortedBy: .ascending(\.id))
        #expect(shelves == [Shelf(id: 1), Shelf(id: 2, extent: Extent(unit: "", width: 7))])
    }
