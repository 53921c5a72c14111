import Pippin
import Testing

private enum First {
    struct Book: CoreModel, Codable, Sendable {
        struct Size: Codable, Sendable { var width: Int; var height: Int }
        let uid: String
        var title: String
        var pages: Int
        var price: Double?
        var size: Size
        var author: Author?
        var tags: [Tag]
    }
    struct Author: CoreModel, Codable, Sendable { let uid: String; var name: String }
    struct Tag: CoreModel, Codable, Sendable, Hashable { let uid: String }
}

@Suite("Loading loses nothing unasked")
struct LossTests {
    private let place: StorePlace

    init() throws {
        place = try StorePlace()
        let manager = try place.loaded([First.Book.self])
        let austen = First.Author(uid: "austen", name: "Jane Austen")
        let books = (0..<10).map { index in
            First.Book(
                uid: "\(index)", title: "Title \(index)", pages: index * 10_000, price: index < 4 ? 1.5 : nil,
                size: .init(width: 10, height: index), author: index < 3 ? austen : nil,
                tags: index < 2 ? [.init(uid: "a"), .init(uid: "b")] : [])
        }
        try manager.save(books)
    }

    /// What loading with these models says would be lost: `Book.title 10`.
    private func losses(_ models: any (CoreModel & Codable).Type...) throws -> [String] {
        let before = try place.text("SELECT group_concat(sql) FROM sqlite_master")
        do { _ = try place.loaded(models) } catch PersistenceError.wouldLose("store.sqlite", let losses) {
            #expect(try place.text("SELECT group_concat(sql) FROM sqlite_master") == before)
            #expect(losses.allSatisfy { !$0.reason.isEmpty && !$0.advice.isEmpty })
            // The store is as it was, for the models that made it.
            #expect(try place.loaded([First.Book.self]).fetch(First.Book.self).count == 10)
            return losses.map { "\($0.entity)\($0.property.map { ".\($0)" } ?? "") \($0.rows)" }
        }
        return []
    }

    private func text(_ models: any (CoreModel & Codable).Type...) -> String {
        do { _ = try place.loaded(models) } catch { return error.localizedDescription }
        return ""
    }

    @Test("properties that the struct does not have any more are listed, with their rows")
    func removedProperties() throws {
        struct Book: CoreModel, Codable { let uid: String; var title: String }
        #expect(
            try losses(Book.self) == [
                "Book.author 3", "Book.pages 10", "Book.price 4", "Book.size 10", "Book.tags 2",
            ])
        let text = text(Book.self)
        #expect(text.contains("store.sqlite"))
        #expect(text.contains("Book.price, 4 rows have a value"))
        #expect(text.contains("Schema(.removed(\"price\"))"))
        #expect(text.contains("The store is as it was."))
    }

    @Test("a property that goes by name goes, and the others stay")
    func removedByName() throws {
        struct Book: CoreModel, Codable {
            let uid: String
            var title: String
            var pages: Int
            var size: First.Book.Size
            static var schema: Schema<Book> { Schema(.removed("price"), .removed("author"), .removed("tags")) }
        }
        let manager = try place.loaded([Book.self])
        #expect(try manager.fetch(Book.self, uid: "3")?.title == "Title 3")
        let columns = try place.text("SELECT group_concat(name) FROM pragma_table_info('ZBOOK')") ?? ""
        #expect(!columns.contains("ZPRICE") && !columns.contains("ZAUTHOR") && columns.contains("ZTITLE"))
        // Whom it led to is not its own to remove.
        #expect(try place.number("SELECT COUNT(*) FROM ZAUTHOR") == 1)
        #expect(try place.loaded([First.Author.self]).fetch(First.Author.self).map(\.name) == ["Jane Austen"])
    }

    @Test("a property with a new name, optional or not, is a loss until the schema says what it was called")
    func renamedProperty() throws {
        struct Renamed: CoreModel, Codable {
            let uid: String
            var name: String?
            var pages: Int
            var price: Double?
            var size: First.Book.Size
            var author: First.Author?
            var tags: [First.Tag]
            static var schema: Schema<Renamed> { Schema(name: "Book") }
        }
        struct Ruled: CoreModel, Codable {
            let uid: String
            var name: String?
            var pages: Int
            var price: Double?
            var size: First.Book.Size
            var author: First.Author?
            var tags: [First.Tag]
            static var schema: Schema<Ruled> { Schema(.renamed(\.name, from: "title"), name: "Book") }
        }
        #expect(try losses(Renamed.self) == ["Book.title 10"])
        #expect(try place.loaded([Ruled.self]).fetch(Ruled.self, uid: "1")?.name == "Title 1")
        // An older program, which knows the former name, does not turn it back.
        let text = text(First.Book.self)
        #expect(text.contains("Book.name, 10 rows have a value") && text.contains("the store is newer"))
        #expect(try place.loaded([Ruled.self]).fetch(Ruled.self, uid: "1")?.name == "Title 1")
    }

    @Test("an older program does not open a store of a newer one, which goes on with it")
    func olderProgram() throws {
        struct Newer: CoreModel, Codable {
            let uid: String
            var title: String
            var pages: Int
            var price: Double?
            var size: First.Book.Size
            var author: First.Author?
            var tags: [First.Tag]
            var language: String?
            static var schema: Schema<Newer> { Schema(name: "Book") }
        }
        let newer = try place.loaded([Newer.self])
        #expect(throws: PersistenceError.self) { try place.loaded([First.Book.self]) }
        try newer.write { access in
            var book = try #require(try access.fetch(Newer.self, uid: "1"))
            book.language = "en"
            try access.insertOrUpdate(book)
        }
        let text = text(First.Book.self)
        #expect(text.contains("Book.language, 1 row has a value"))
        #expect(try place.loaded([Newer.self]).fetch(Newer.self, uid: "1")?.language == "en")
    }

    @Test("an older program opens a store to which a newer one has added a model, and leaves that alone")
    func olderProgramWithoutModel() throws {
        struct Shelf: CoreModel, Codable { let uid: String; var books: [First.Book] }
        let newer = try place.loaded([First.Book.self, Shelf.self])
        let books = try newer.fetch(First.Book.self, uids: ["1", "2"])
        try newer.save(Shelf(uid: "s", books: books))
        let older = try place.loaded([First.Book.self])
        try older.delete(First.Book.self, uids: ["1"])
        #expect(try place.loaded([First.Book.self, Shelf.self]).fetch(Shelf.self).first?.books.map(\.uid) == ["2"])
    }

    @Test("a type that holds less is a loss until the schema says that it may be narrowed")
    func narrowed() throws {
        struct Book: CoreModel, Codable {
            let uid: String
            var title: String
            var pages: Int16
            var price: Int?
            var size: First.Book.Size
            var author: First.Author?
            var tags: Set<First.Tag>
        }
        struct Ruled: CoreModel, Codable {
            let uid: String
            var title: String
            var pages: Int32
            var price: Int?
            var size: First.Book.Size
            var author: First.Author?
            var tags: Set<First.Tag>
            static var schema: Schema<Ruled> {
                Schema(.narrowed(\.pages), .narrowed(\.price), .narrowed(\.tags), name: "Book")
            }
        }
        #expect(try losses(Book.self) == ["Book.pages 10", "Book.price 4", "Book.tags 2"])
        let manager = try place.loaded([Ruled.self])
        #expect(try manager.fetch(Ruled.self, uid: "2")?.price == 1)
        #expect(try manager.fetch(Ruled.self, uid: "9")?.pages == 90_000)
    }

    @Test(
        "a property that may not be missing any more takes what there is, and a default value or nothing for the rest")
    func mandatory() throws {
        enum Strict {
            struct Book: CoreModel, Codable {
                let uid: String
                var title: String
                var pages: Int
                var price: Double
                var size: First.Book.Size
                var author: First.Author?
                var tags: [First.Tag]
            }
        }
        enum Generous {
            struct Book: CoreModel, Codable {
                let uid: String
                var title: String
                var pages: Int
                var price: Double
                var size: First.Book.Size
                var author: First.Author?
                var tags: [First.Tag]
                static var schema: Schema<Book> { Schema(.defaultValue(\.price, 9.5)) }
            }
        }
        #expect {
            try place.loaded([Strict.Book.self])
        } throws: { error in
            guard case .schemaChanged("Book", "price"?, _)? = error as? PersistenceError else { return false }
            return error.localizedDescription.contains(".defaultValue")
        }
        #expect(try place.loaded([First.Book.self]).fetch(First.Book.self).count(where: { $0.price == nil }) == 6)
        let prices = try place.loaded([Generous.Book.self]).fetch(Generous.Book.self).map(\.price)
        #expect(prices.count(where: { $0 == 1.5 }) == 4 && prices.count(where: { $0 == 9.5 }) == 6)
    }

    @Test("what does not fit a narrowed type stops the migration")
    func narrowedTooFar() throws {
        struct Book: CoreModel, Codable {
            let uid: String
            var title: String
            var pages: Int16
            var price: Double?
            var size: First.Book.Size
            var author: First.Author?
            var tags: [First.Tag]
            static var schema: Schema<Book> { Schema(.narrowed(\.pages)) }
        }
        #expect(throws: (any Error).self) { try place.loaded([Book.self]) }
        #expect(try place.loaded([First.Book.self]).fetch(First.Book.self, uid: "9")?.pages == 90_000)
    }

    @Test("a type that holds more takes all values")
    func widened() throws {
        struct Book: CoreModel, Codable {
            let uid: String
            var title: String?
            var pages: Decimal
            var price: Double?
            var size: First.Book.Size
            var author: First.Author?
            var tags: [First.Tag]
        }
        #expect(try place.loaded([Book.self]).fetch(Book.self, uid: "9")?.pages == 90_000)
    }

    @Test("a property of another kind is a loss, and begins anew when its old values go by name")
    func changedType() throws {
        struct Book: CoreModel, Codable {
            let uid: String
            var title: Int?
            var pages: Int
            var price: Double?
            var size: First.Book.Size
            var author: String?
            var tags: [First.Tag]
        }
        struct Ruled: CoreModel, Codable {
            let uid: String
            var title: Int?
            var pages: Int
            var price: Double?
            var size: First.Book.Size
            var author: String?
            var tags: [First.Tag]
            static var schema: Schema<Ruled> { Schema(.removed("title"), .removed("author"), name: "Book") }
        }
        #expect(try losses(Book.self) == ["Book.author 3", "Book.title 10"])
        let manager = try place.loaded([Ruled.self])
        #expect(try manager.fetch(Ruled.self, where: \.title == nil).count == 10)
        var book = try #require(try manager.fetch(Ruled.self, uid: "1"))
        (book.title, book.author) = (5, "Austen")
        try manager.save(book)
        // The rule is still there, and what it was about is gone: nothing goes a second time.
        let again = try place.loaded([Ruled.self]).fetch(Ruled.self, uid: "1")
        #expect(again?.title == 5 && again?.author == "Austen")
    }

    @Test("a list that becomes one model, and a model of another type, are losses")
    func changedRelationships() throws {
        struct Person: CoreModel, Codable { let uid: String; var name: String }
        struct Book: CoreModel, Codable {
            let uid: String
            var title: String
            var pages: Int
            var price: Double?
            var size: First.Book.Size
            var author: Person?
            var tags: First.Tag?
        }
        #expect(try losses(Book.self) == ["Book.author 3", "Book.tags 2"])
    }

    @Test("a property of a nested struct is a loss like any other")
    func nested() throws {
        struct Book: CoreModel, Codable {
            struct Size: Codable { var width: Int }
            let uid: String
            var title: String
            var pages: Int
            var price: Double?
            var size: Size
            var author: First.Author?
            var tags: [First.Tag]
        }
        struct Ruled: CoreModel, Codable {
            struct Size: Codable { var width: Int }
            let uid: String
            var title: String
            var pages: Int
            var price: Double?
            var size: Size
            var author: First.Author?
            var tags: [First.Tag]
            static var schema: Schema<Ruled> { Schema(.removed("size.height"), name: "Book") }
        }
        #expect(try losses(Book.self) == ["Book.size.height 10"])
        #expect(try place.loaded([Ruled.self]).fetch(Ruled.self, uid: "1")?.size.width == 10)
    }

    @Test("a model with another name leaves the former one's rows alone, and takes them when its schema says so")
    func renamedModel() throws {
        struct Writer: CoreModel, Codable { let uid: String; var name: String }
        struct Ruled: CoreModel, Codable {
            let uid: String
            var name: String
            static var schema: Schema<Ruled> { Schema(.renamed(from: "Author"), name: "Writer") }
        }
        #expect(try place.loaded([Writer.self]).fetch(Writer.self).count == 0)
        #expect(try place.number("SELECT COUNT(*) FROM ZAUTHOR") == 1)
        #expect(try place.loaded([Ruled.self]).fetch(Ruled.self).map(\.name) == ["Jane Austen"])
        // And the books still lead there.
        #expect(try place.number("SELECT COUNT(*) FROM ZBOOK JOIN ZWRITER ON ZAUTHOR = ZWRITER.Z_PK") == 3)
    }

    @Test("a model with another name does not take the place of rows that were saved under it")
    func replacedModel() throws {
        struct Writer: CoreModel, Codable { let uid: String; var name: String }
        struct Ruled: CoreModel, Codable {
            let uid: String
            var name: String
            static var schema: Schema<Ruled> { Schema(.renamed(from: "Author"), name: "Writer") }
        }
        try place.loaded([Writer.self]).save(Writer(uid: "shelley", name: "Mary Shelley"))
        #expect {
            try place.loaded([Ruled.self])
        } throws: { error in
            guard case .wouldLose(_, let losses)? = error as? PersistenceError else { return false }
            return losses.map(\.entity) == ["Writer"] && losses.first?.rows == 1
        }
        #expect(try place.loaded([Writer.self]).fetch(Writer.self).count == 1)
    }

    @Test("a migration plan may drop what its versions do not have")
    func plan() throws {
        struct Book: CoreModel, Codable { let uid: String; var title: String }
        let manager = PersistenceManager(models: Book.self, store: .file(place.file))
        let plan = MigrationPlan(from: ModelVersion("1", models: First.Book.self)).inferred(
            to: ModelVersion("2", models: Book.self))
        try manager.load(migratingBy: plan)
        #expect(try manager.fetch(Book.self, uid: "1")?.title == "Title 1")
    }

    @Test("a plan takes entities along that its versions do not name")
    func planBesideOthers() throws {
        struct Note: CoreModel, Codable { let uid: Int; var books: [First.Book] }
        struct Book: CoreModel, Codable { let uid: String; var name: String }
        let notes = try place.loaded([First.Book.self, Note.self])
        try notes.save(Note(uid: 1, books: try notes.fetch(First.Book.self, uids: ["2", "3"])))
        let before = try place.text("SELECT group_concat(Z_PK) FROM ZNOTE")
        let plan = MigrationPlan(from: ModelVersion("1", models: First.Book.self)).changing(
            to: ModelVersion("2", models: Book.self),
            .model(First.Book.self, to: Book.self) { Book(uid: $0.uid, name: $0.title.uppercased()) })
        let manager = PersistenceManager(models: Book.self, store: .file(place.file))
        try manager.load(migratingBy: plan)
        #expect(try manager.fetch(Book.self, uid: "2")?.name == "TITLE 2")
        #expect(try place.text("SELECT group_concat(Z_PK) FROM ZNOTE") == before)
        // The note still has its books, and what the plan dropped is gone.
        struct Reader: CoreModel, Codable {
            let uid: Int
            var books: [Book]
            static var schema: Schema<Reader> { Schema(name: "Note") }
        }
        #expect(try place.loaded([Reader.self]).fetch(Reader.self).first?.books.map(\.name) == ["TITLE 2", "TITLE 3"])
        #expect(try place.number("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ZTAG'") == 0)
    }

    @Test("a manager of a model leaves inference to Core Data, which drops what the model does not have")
    func modelFile() throws {
        let entity = NSEntityDescription()
        entity.name = "Book"
        let uid = NSAttributeDescription()
        uid.name = "uid"
        uid.attributeType = .stringAttributeType
        entity.properties = [uid]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let manager = PersistenceManager(model: model, name: "Books", store: .file(place.file))
        try manager.load()
        #expect(try place.number("SELECT COUNT(*) FROM ZBOOK") == 10)
        #expect(try place.number("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ZAUTHOR'") == 0)
    }
}
