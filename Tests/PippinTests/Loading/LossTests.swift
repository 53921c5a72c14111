import PippinRecords
import CoreData
import Testing

private enum First {
    struct Book: CoreModel {
        struct Size: Codable, Sendable { var width: Int; var height: Int }
        let id: String
        var title: String
        var pages: Int
        var price: Double?
        var size: Size
        var author: Author?
        var tags: [Tag]
    }
    struct Author: CoreModel { let id: String; var name: String }
    struct Tag: CoreModel, Hashable { let id: String }
}

@Suite("Loading loses nothing unasked")
struct LossTests {
    private let place: StorePlace

    init() async throws {
        place = try StorePlace()
        let manager = try place.loaded([First.Book.self])
        let austen = First.Author(id: "austen", name: "Jane Austen")
        let books = (0..<10).map { index in
            First.Book(
                id: "\(index)", title: "Title \(index)", pages: index * 10_000, price: index < 4 ? 1.5 : nil,
                size: .init(width: 10, height: index), author: index < 3 ? austen : nil,
                tags: index < 2 ? [.init(id: "a"), .init(id: "b")] : [])
        }
        try await manager.save(books)
    }

    /// What loading with these models says would be lost: `Book.title 10`.
    private func losses(_ models: any CoreModel.Type...) throws -> [String] {
        let before = try place.text("SELECT group_concat(sql) FROM sqlite_master")
        do { _ = try place.loaded(models) } catch let error as PersistenceError where error.code == .wouldLose {
            let losses = error.losses
            #expect(error.path == "store.sqlite")
            #expect(try place.text("SELECT group_concat(sql) FROM sqlite_master") == before)
            #expect(losses.allSatisfy { !$0.reason.isEmpty && !$0.advice.isEmpty })
            // The store is as it was, for the models that made it.
            let kept = try place.loaded([First.Book.self])
            #expect(try kept.readAndWait { try $0.count(First.Book.self) } == 10)
            return losses.map { "\($0.entity)\($0.property.map { ".\($0)" } ?? "") \($0.rows)" }
        }
        return []
    }

    private func text(_ models: any CoreModel.Type...) -> String {
        do { _ = try place.loaded(models) } catch { return error.localizedDescription }
        return ""
    }

    @Test("properties that the struct does not have any more are listed, with their rows")
    func removedProperties() throws {
        struct Book: CoreModel { let id: String; var title: String }
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
    func removedByName() async throws {
        struct Book: CoreModel {
            let id: String
            var title: String
            var pages: Int
            var size: First.Book.Size
            static var schema: Schema<Book> { Schema(.removed("price"), .removed("author"), .removed("tags")) }
        }
        let manager = try place.loaded([Book.self])
        #expect(try await manager.find(Book.self, id: "3")?.title == "Title 3")
        let columns = try place.text("SELECT group_concat(name) FROM pragma_table_info('ZBOOK')") ?? ""
        #expect(!columns.contains("ZPRICE") && !columns.contains("ZAUTHOR") && columns.contains("ZTITLE"))
        // Whom it led to is not its own to remove.
        #expect(try place.number("SELECT COUNT(*) FROM ZAUTHOR") == 1)
        #expect(try await place.loaded([First.Author.self]).fetch(First.Author.self).map(\.name) == ["Jane Austen"])
    }

    @Test("a property with a new name, optional or not, is a loss until the schema says what it was called")
    func renamedProperty() async throws {
        struct Renamed: CoreModel {
            let id: String
            var name: String?
            var pages: Int
            var price: Double?
            var size: First.Book.Size
            var author: First.Author?
            var tags: [First.Tag]
            static var schema: Schema<Renamed> { Schema(name: "Book") }
        }
        struct Ruled: CoreModel {
            let id: String
            var name: String?
            var pages: Int
            var price: Double?
            var size: First.Book.Size
            var author: First.Author?
            var tags: [First.Tag]
            static var schema: Schema<Ruled> { Schema(.renamed(\.name, from: "title"), name: "Book") }
        }
        #expect(try losses(Renamed.self) == ["Book.title 10"])
        #expect(try await place.loaded([Ruled.self]).find(Ruled.self, id: "1")?.name == "Title 1")
        // An older program, which knows the former name, does not turn it back.
        let text = text(First.Book.self)
        #expect(text.contains("Book.name, 10 rows have a value") && text.contains("the store is newer"))
        #expect(try await place.loaded([Ruled.self]).find(Ruled.self, id: "1")?.name == "Title 1")
    }

    @Test("an older program does not open a store of a newer one, which goes on with it")
    func olderProgram() async throws {
        struct Newer: CoreModel {
            let id: String
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
        try await newer.write { access in
            var book = try #require(try access.find(Newer.self, id: "1"))
            book.language = "en"
            try access.save(book)
        }
        let text = text(First.Book.self)
        #expect(text.contains("Book.language, 1 row has a value"))
        #expect(try await place.loaded([Newer.self]).find(Newer.self, id: "1")?.language == "en")
    }

    @Test("an older program opens a store to which a newer one has added a model, and leaves that alone")
    func olderProgramWithoutModel() async throws {
        struct Shelf: CoreModel { let id: String; var books: [First.Book] }
        let newer = try place.loaded([First.Book.self, Shelf.self])
        let books = try await newer.find(First.Book.self, ids: ["1", "2"])
        try await newer.save(Shelf(id: "s", books: books))
        let older = try place.loaded([First.Book.self])
        try await older.delete(First.Book.self, ids: ["1"])
        #expect(
            try await place.loaded([First.Book.self, Shelf.self]).fetch(Shelf.self).first?.books.map(\.id) == ["2"])
    }

    @Test("a type that holds less is a loss until the schema says that it may be narrowed")
    func narrowed() async throws {
        struct Book: CoreModel {
            let id: String
            var title: String
            var pages: Int16
            var price: Int?
            var size: First.Book.Size
            var author: First.Author?
            var tags: Set<First.Tag>
        }
        struct Ruled: CoreModel {
            let id: String
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
        #expect(try await manager.find(Ruled.self, id: "2")?.price == 1)
        #expect(try await manager.find(Ruled.self, id: "9")?.pages == 90_000)
    }

    @Test(
        "a property that may not be missing any more takes what there is, and a default value or nothing for the rest")
    func mandatory() async throws {
        enum Strict {
            struct Book: CoreModel {
                let id: String
                var title: String
                var pages: Int
                var price: Double
                var size: First.Book.Size
                var author: First.Author?
                var tags: [First.Tag]
            }
        }
        enum Generous {
            struct Book: CoreModel {
                let id: String
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
            guard let error = error as? PersistenceError, error.code == .schemaChanged else { return false }
            return error.entity == "Book" && error.property == "price"
                && error.localizedDescription.contains(".defaultValue")
        }
        #expect(try await place.loaded([First.Book.self]).fetch(First.Book.self).count(where: { $0.price == nil }) == 6)
        let prices = try await place.loaded([Generous.Book.self]).fetch(Generous.Book.self).map(\.price)
        #expect(prices.count(where: { $0 == 1.5 }) == 4 && prices.count(where: { $0 == 9.5 }) == 6)
    }

    @Test("all that stands in the way is in one error: what is lost, what is missing, and values that are to be unique")
    func everythingAtOnce() async throws {
        struct Book: CoreModel {
            let id: String
            var title: String
            var pages: Int16
            var price: Double
            var size: First.Book.Size
            var language: String
            var publisher: First.Author
            var tags: [First.Tag]
            static var schema: Schema<Book> { Schema(.unique(\.title)) }
        }
        let manager = try place.loaded([First.Book.self])
        try await manager.update(First.Book.self, where: ["1", "2", "3"].contains(\.id)) { $0.set(\.title, to: "Emma") }
        await manager.close()
        #expect(
            try losses(Book.self) == [
                "Book.author 3", "Book.language 10", "Book.pages 10", "Book.price 6", "Book.publisher 10",
            ])
        let text = text(Book.self)
        #expect(text.contains("Book.language, 10 rows have no value: It is new and required."))
        #expect(text.contains("Book.price, 6 rows have no value: It was optional and is required."))
        #expect(text.contains("several 'Book' with the same title, which is to be unique: 'Emma' (3 rows)."))
        #expect(text.hasSuffix("\nThe store is as it was."))
        #expect(text.components(separatedBy: "The store is as it was.").count == 2)
        for word in ["destination", "Validation", "ZBOOK", "checksum"] { #expect(!text.contains(word)) }
    }

    @Test("a value that does not fit a narrowed type stops the migration, and is named")
    func narrowedTooFar() async throws {
        struct Book: CoreModel {
            let id: String
            var title: String
            var pages: Int16
            var price: Double?
            var size: First.Book.Size
            var author: First.Author?
            var tags: [First.Tag]
            static var schema: Schema<Book> { Schema(.narrowed(\.pages)) }
        }
        let refusal = #expect(throws: PersistenceError.self) { try place.loaded([Book.self]) }
        #expect(refusal?.property == "pages")
        #expect(refusal?.description.contains("has the value 40000, which does not fit its type.") == true)
        #expect(try await place.loaded([First.Book.self]).find(First.Book.self, id: "9")?.pages == 90_000)
    }

    @Test("a type that holds more takes all values")
    func widened() async throws {
        struct Book: CoreModel {
            let id: String
            var title: String?
            var pages: Decimal
            var price: Double?
            var size: First.Book.Size
            var author: First.Author?
            var tags: [First.Tag]
        }
        #expect(try await place.loaded([Book.self]).find(Book.self, id: "9")?.pages == 90_000)
    }

    @Test("a property of another kind is a loss, and begins anew when its old values go by name")
    func changedType() async throws {
        struct Book: CoreModel {
            let id: String
            var title: Int?
            var pages: Int
            var price: Double?
            var size: First.Book.Size
            var author: String?
            var tags: [First.Tag]
        }
        struct Ruled: CoreModel {
            let id: String
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
        #expect(try await manager.fetch(Ruled.self, where: \.title == nil).count == 10)
        var book = try #require(try await manager.find(Ruled.self, id: "1"))
        (book.title, book.author) = (5, "Austen")
        try await manager.save(book)
        // The rule is still there, and what it was about is gone: nothing goes a second time.
        let again = try await place.loaded([Ruled.self]).find(Ruled.self, id: "1")
        #expect(again?.title == 5 && again?.author == "Austen")
    }

    @Test("a list that becomes one model, and a model of another type, are losses")
    func changedRelationships() async throws {
        struct Person: CoreModel { let id: String; var name: String }
        struct Book: CoreModel {
            let id: String
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
    func nested() async throws {
        struct Book: CoreModel {
            struct Size: Codable { var width: Int }
            let id: String
            var title: String
            var pages: Int
            var price: Double?
            var size: Size
            var author: First.Author?
            var tags: [First.Tag]
        }
        struct Ruled: CoreModel {
            struct Size: Codable { var width: Int }
            let id: String
            var title: String
            var pages: Int
            var price: Double?
            var size: Size
            var author: First.Author?
            var tags: [First.Tag]
            static var schema: Schema<Ruled> { Schema(.removed("size.height"), name: "Book") }
        }
        #expect(try losses(Book.self) == ["Book.size.height 10"])
        #expect(try await place.loaded([Ruled.self]).find(Ruled.self, id: "1")?.size.width == 10)
    }

    @Test("a property of a nested struct with a new name is found by its former one, with or without the way there")
    func renamedWithin() async throws {
        struct Size: Codable { var breadth: Int; var depth: Int }
        struct Book: CoreModel {
            let id: String
            var size: Size
        }
        struct Ruled: CoreModel {
            let id: String
            var size: Size
            static var schema: Schema<Ruled> {
                Schema(
                    .renamed(\.size.breadth, from: "size.width"), .renamed(\.size.depth, from: "height"),
                    .removed("title"), .removed("pages"), .removed("price"), .removed("author"), .removed("tags"),
                    name: "Book")
            }
        }
        #expect(text(Book.self).contains("Schema(.renamed(\\.size.newName, from: \"size.width\"))"))
        let size = try await place.loaded([Ruled.self]).find(Ruled.self, id: "1")?.size
        #expect(size?.breadth == 10 && size?.depth == 1)
    }

    @Test("a model with another name leaves the former one's rows alone, and takes them when its schema says so")
    func renamedModel() async throws {
        struct Writer: CoreModel { let id: String; var name: String }
        struct Ruled: CoreModel {
            let id: String
            var name: String
            static var schema: Schema<Ruled> { Schema(.renamed(from: "Author"), name: "Writer") }
        }
        #expect(try await place.loaded([Writer.self]).fetch(Writer.self).count == 0)
        #expect(try place.number("SELECT COUNT(*) FROM ZAUTHOR") == 1)
        #expect(try await place.loaded([Ruled.self]).fetch(Ruled.self).map(\.name) == ["Jane Austen"])
        // And the books still lead there.
        #expect(try place.number("SELECT COUNT(*) FROM ZBOOK JOIN ZWRITER ON ZAUTHOR = ZWRITER.Z_PK") == 3)
    }

    @Test("a model with another name does not take the place of rows that were saved under it")
    func replacedModel() async throws {
        struct Writer: CoreModel { let id: String; var name: String }
        struct Ruled: CoreModel {
            let id: String
            var name: String
            static var schema: Schema<Ruled> { Schema(.renamed(from: "Author"), name: "Writer") }
        }
        try await place.loaded([Writer.self]).save(Writer(id: "shelley", name: "Mary Shelley"))
        #expect {
            try place.loaded([Ruled.self])
        } throws: { error in
            guard let error = error as? PersistenceError, error.code == .wouldLose else { return false }
            let losses = error.losses
            return losses.map(\.entity) == ["Writer"] && losses.first?.rows == 1
        }
        #expect(try await place.loaded([Writer.self]).fetch(Writer.self).count == 1)
    }

    @Test("a migration plan may drop properties that its versions do not have, and types that a schema names")
    func plan() async throws {
        struct Book: CoreModel {
            let id: String
            var title: String
            static var schema: Schema<Book> { Schema(.removed(entity: "Author"), .removed(entity: "Tag")) }
        }
        let manager = PersistenceManager(models: Book.self, store: .file(place.file))
        let plan = MigrationPlan(from: ModelVersion("1", models: First.Book.self)).inferred(
            to: ModelVersion("2", models: Book.self))
        try manager.loadAndWait(migratingBy: plan)
        #expect(try await manager.find(Book.self, id: "1")?.title == "Title 1")
    }

    @Test("a plan takes entities along that its versions do not name")
    func planBesideOthers() async throws {
        struct Note: CoreModel { let id: Int; var books: [First.Book] }
        struct Book: CoreModel {
            let id: String
            var name: String
            static var schema: Schema<Book> { Schema(.removed(entity: "Author"), .removed(entity: "Tag")) }
        }
        let notes = try place.loaded([First.Book.self, Note.self])
        try await notes.save(Note(id: 1, books: try await notes.find(First.Book.self, ids: ["2", "3"])))
        let before = try place.text("SELECT count(*) FROM ZNOTE")
        let plan = MigrationPlan(from: ModelVersion("1", models: First.Book.self)).changing(
            to: ModelVersion("2", models: Book.self),
            .model(First.Book.self, to: Book.self) { Book(id: $0.id, name: $0.title.uppercased()) })
        let manager = PersistenceManager(models: Book.self, store: .file(place.file))
        try manager.loadAndWait(migratingBy: plan)
        #expect(try await manager.find(Book.self, id: "2")?.name == "TITLE 2")
        #expect(try place.text("SELECT count(*) FROM ZNOTE") == before)
        // The note still has its books, and what the plan dropped is gone.
        struct Reader: CoreModel {
            let id: Int
            var books: [Book]
            static var schema: Schema<Reader> { Schema(name: "Note") }
        }
        #expect(
            try await place.loaded([Reader.self]).fetch(Reader.self).first?.books.map(\.name) == ["TITLE 2", "TITLE 3"])
        #expect(try place.number("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ZTAG'") == 0)
    }

    @Test("a manager of a model leaves inference to Core Data, which drops what the model does not have")
    func modelFile() throws {
        let entity = NSEntityDescription()
        entity.name = "Book"
        let id = NSAttributeDescription()
        id.name = "id"
        id.attributeType = .stringAttributeType
        entity.properties = [id]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let manager = PersistenceManager(model: model, name: "Books", store: .file(place.file))
        try manager.loadAndWait()
        #expect(try place.number("SELECT COUNT(*) FROM ZBOOK") == 10)
        #expect(try place.number("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ZAUTHOR'") == 0)
    }
}
