import CoreData
import Foundation
import Library

extension Check {
    /// Finds everything again, in another context on the same file.
    static func read(_ context: NSManagedObjectContext) throws {
        let authors: [Author] = try context.fetch(Author.fetchRequest())
        guard let author = authors.first else { throw CheckFailure(description: "no author was saved") }
        try check(author.name == "Astrid" && author.age == 94 && author.in, "scalars and strings are saved")
        try check(author.rank == 7 && author.royalty == NSDecimalNumber(string: "12.5"), "so are number objects")
        try check(author.born == Date(timeIntervalSinceReferenceDate: 1), "so are dates")
        try check(
            author.site?.host == "example.org" && author.id?.uuidString.hasPrefix("5F3B") == true, "so are others")
        try check(author.books?.count == 2, "so are relationships")

        let request: NSFetchRequest<Book> = Book.fetchRequest()
        request.predicate = NSPredicate(format: "title == %@", "Ronja")
        guard let book = try context.fetch(request).first else { throw CheckFailure(description: "no book") }
        try check(book.loudTitle == "RONJA" && book.author === author, "a class by hand with generated properties")
        try check(pageNumbers(book) == [2, 3, 4], "the order is saved")
        try check(book.shelf?.label == "A" && book.shelf?.books?.count == 1, "@NSManaged in an extension")

        let editions: NSFetchRequest<SpecialEdition> = SpecialEdition.fetchRequest()
        try check(context.fetch(editions).map(\.copies) == [2.5], "a subentity has its class")

        let readers = try context.fetch(NSFetchRequest<Reader>(entityName: "Reader"))
        guard let reader = readers.first, let loan = reader.loans.anyObject() as? Loan else {
            throw CheckFailure(description: "no loan was saved")
        }
        try check(reader.level == 3 && reader.budget == NSDecimalNumber(string: "0.10"), "mogenerator's classes")
        try check(loan.status == .returned && loan.visits == 2, "an enumeration and a property with a private setter")
        try check(loan.password == "hush" && loan.note == "soon", "a private property and a conditional one")
        try check(loan.begins == Date(timeIntervalSinceReferenceDate: 86_400), "a date that is not optional")
        try check(loan.place == nil && loan.labels == nil, "transformable values that are not there")
        try check(NSStringFromClass(type(of: loan)) == "Library.Loan", "the model's class is found in its module")
    }

    /// A class inside another type, with a model made in code.
    static func checkNestedClass() throws {
        let entity = NSEntityDescription()
        entity.name = "Visitor"
        let name = NSAttributeDescription()
        name.name = "name"
        name.attributeType = .stringAttributeType
        let mood = NSAttributeDescription()
        mood.name = "mood"
        mood.attributeType = .stringAttributeType
        mood.isOptional = true
        let friends = NSRelationshipDescription()
        friends.name = "friends"
        friends.destinationEntity = entity
        friends.inverseRelationship = friends
        entity.properties = [name, mood, friends]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)

        let one = Records.Visitor(entity: entity, insertInto: context)
        let other = Records.Visitor(entity: entity, insertInto: context)
        one.name = "Lotta"
        one.name += "!"
        one.mood = .cross
        one.friends = [other]
        try check(one.name == "Lotta!" && one.mood == .cross && other.mood == nil, "a nested class has its properties")
        try check(other.friends == [one], "and its relationships")
    }

    /// Two more models, in the executable's own resources.
    static func checkOtherModels() throws {
        let unversioned = Bundle.module.url(forResource: "Visits", withExtension: "mom")
        try check(unversioned != nil, "a model without versions is compiled to a .mom")
        // “Seals” is a symbolic link; in a folder that the target excludes there is another “Stamps”.
        let models: [(String, String, NSManagedObject.Type)] = [
            ("Visits", "minutes", Visit.self), ("Stamps", "value", Stamp.self), ("Seals", "value", Seal.self),
        ]
        for (name, key, type) in models {
            let container = NSPersistentContainer(name: name)
            let description = NSPersistentStoreDescription()
            description.type = NSInMemoryStoreType
            container.persistentStoreDescriptions = [description]
            container.loadPersistentStores { _, _ in }
            let object = type.init(context: container.viewContext)
            try check(object.value(forKey: key) as? Float == 1.5, "a model of the executable is found")
        }
    }
}
