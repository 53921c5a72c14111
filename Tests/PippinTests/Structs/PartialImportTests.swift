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

    @Test("leave these properties as they are also where another column has such models in a list as JSON")
    func besideJSON() async throws {
        struct Play: CoreModel {
            let id: Int
            var authors: [Maker]
            var editor: Maker?
        }
        let counter = try Counter(Play.self)
        let manager = counter.manager
        try await manager.save([Maker(id: "a", name: "A", born: 1790), Maker(id: "b", name: "B", born: 1800)])
        let file = counter.folder.file("plays.csv")
        let list = #""[{""id"":""a"",""name"":""Ann""}]""#
        try Data("id,authors,editor.id,editor.name\n1,\(list),b,Bea\n".utf8).write(to: file)
        #expect(try await manager.importCSV(Play.self, from: file).inserted == 1)
        #expect(
            try await manager.fetch(Maker.self, sortedBy: .ascending(\.id))
                == [Maker(id: "a", name: "Ann"), Maker(id: "b", name: "Bea", born: 1800)])

        // One model of both kinds: which of its values count cannot be told.
        try Data("id,authors,editor.id,editor.name\n1,\(list),a,Ann\n2,\(list),b,Bo\n".utf8).write(to: file)
        let report = try await manager.importCSV(Play.self, from: file)
        #expect(report.refused.map(\.position) == [2])
        #expect(report.refused.first?.reason.contains("as JSON") == true)
        #expect(try await manager.find(Maker.self, id: "b") == Maker(id: "b", name: "Bo", born: 1800))
    }

    @Test("set what a list as JSON has deep within it, though the same type has few columns elsewhere")
    func withinJSON() async throws {
        struct Item: CoreModel, Equatable {
            let id: String
            var name: String
            var price: Int?
        }
        struct Line: CoreModel, Equatable {
            let id: Int
            var item: Item
        }
        struct Order: CoreModel, Equatable {
            let id: Int
            var lines: [Line]
            var gift: Item?
        }
        let counter = try Counter(Order.self)
        let manager = counter.manager
        try await manager.save([Item(id: "p1", name: "Lamp", price: 9), Item(id: "p2", name: "Pen", price: 3)])
        let file = counter.folder.file("orders.csv")
        let lines = #""[{""id"":1,""item"":{""id"":""p1"",""name"":""Lamp"",""price"":12}}]""#
        try Data("id,lines,gift.id,gift.name\n1,\(lines),p2,Pencil\n".utf8).write(to: file)
        #expect(try await manager.importCSV(Order.self, from: file).inserted == 1)
        #expect(
            try await manager.fetch(Item.self, sortedBy: .ascending(\.id))
                == [Item(id: "p1", name: "Lamp", price: 12), Item(id: "p2", name: "Pencil", price: 3)])
    }

    @Test("set all that a list as JSON has, though a later record has another list for the model that it is in")
    func inReplacedJSON() async throws {
        struct Troupe: CoreModel {
            let id: String
            var actors: [Maker]
        }
        struct Play: CoreModel {
            let id: Int
            var lead: Maker?
            var troupe: Troupe?
        }
        let lines = [("a", 1900), ("b", 1950)].enumerated().map { number, actor in
            let list = #"[{""id"":""\#(actor.0)"",""name"":""New"",""born"":\#(actor.1)}]"#
            return #"\#(number),x,X,"{""id"":""t"",""actors"":\#(list)}""#
        }
        for size in [1, 2, 500] {
            let counter = try Counter(Play.self)
            let manager = counter.manager
            try await manager.save(["a", "b", "x"].map { Maker(id: $0, name: "Old", born: 1000) })
            let file = counter.folder.file("plays.csv")
            try Data((["id,lead.id,lead.name,troupe"] + lines).joined(separator: "\n").utf8).write(to: file)
            #expect(try await manager.importCSV(Play.self, from: file, batchSize: size).inserted == 2)
            let makers = try await manager.fetch(Maker.self, sortedBy: .ascending(\.id))
            let expected = [
                Maker(id: "a", name: "New", born: 1900), Maker(id: "b", name: "New", born: 1950),
                Maker(id: "x", name: "X", born: 1000),
            ]
            #expect(makers == expected, "\(size)")
            #expect(try await manager.find(Troupe.self, id: "t")?.actors.map(\.id) == ["b"])
        }
    }

    @Test("are refused if a model is in one column as JSON, and in columns within it")
    func twice() async throws {
        let error = await #expect(throws: PersistenceError.self) {
            try await `import`("id,title,price,maker,maker.id,maker.name\nlamp,Lamp,9,,ada,Ada\n")
        }
        #expect(error?.code == .fileNotReadable)
        #expect(error?.description.contains("“maker”") == true)
    }

    @Test("take an empty text in quotes as the value of a nested struct, but not as a model")
    func quoted() async throws {
        _ = try await `import`("id,title,price,size.unit,maker.id,maker.name\nlamp,Lamp,9,\"\",\"\",\"\"\n")
        let stored = try await manager.find(Product.self, id: "lamp")
        #expect(stored?.size == Size(unit: "") && stored?.maker == nil)
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
        #expect(report.refused.first?.reason == "“extent” has no value for “width”.")
        let shelves = try await counter.manager.fetch(Shelf.self, sortedBy: .ascending(\.id))
        #expect(shelves == [Shelf(id: 1), Shelf(id: 2, extent: Extent(unit: "", width: 7))])
    }
}
