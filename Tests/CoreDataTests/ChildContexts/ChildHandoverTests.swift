import CoreData
import TestSupport
import Testing

@Suite("What a child context hands over to its parent")
struct ChildHandoverTests {
    let family: Family

    init() throws { family = try Family() }

    @Test("A new object is saved, even if the parent was asked for it by its ID before")
    func earlyFault() throws {
        let identifier = try family.child.performAndWait {
            let author = family.child.make("Author", ["name": "A"])
            try family.child.obtainPermanentIDs(for: [author])
            return author.objectID
        }
        let early = family.parent.performAndWait { family.parent.object(with: identifier) }
        try family.child.performAndWait { try family.child.save() }
        try family.parent.performAndWait {
            #expect(early.isInserted && !early.isFault)
            #expect(early.string("name") == "A")
            try family.parent.save()
        }
        #expect(try family.column("SELECT ZNAME FROM ZAUTHOR") == ["A"])
    }

    @Test("A new object is saved, even if the parent has read its fault before, and found nothing")
    func readFault() throws {
        let identifier = try family.child.performAndWait {
            let author = family.child.make("Author", ["name": "A"])
            try family.child.obtainPermanentIDs(for: [author])
            return author.objectID
        }
        let early = family.parent.performAndWait {
            let author = family.parent.object(with: identifier)
            #expect(author.string("name") == nil)
            return author
        }
        try family.child.performAndWait { try family.child.save() }
        try family.parent.performAndWait {
            #expect(early.string("name") == "A")
            try family.parent.save()
            #expect(!family.parent.hasChanges)
        }
        #expect(try family.column("SELECT ZNAME FROM ZAUTHOR") == ["A"])
    }

    @Test(
        "A removal from a relationship without an inverse reaches the store, whether the parent knows the object or not"
    )
    func removal() throws {
        let model = NSManagedObjectModel()
        let drink = Library.entity("Drink", [Library.attribute("name", .stringAttributeType)])
        let ingredient = Library.entity("Ingredient", [Library.attribute("name", .stringAttributeType)])
        let ingredients = NSRelationshipDescription()
        ingredients.name = "ingredients"
        ingredients.maxCount = 0
        ingredients.destinationEntity = ingredient
        drink.properties.append(ingredients)
        model.entities = [drink, ingredient]
        let container = try Library.inMemory(model)
        let parent = container.newBackgroundContext()
        try parent.performAndWait {
            let drink = parent.make("Drink")
            let made = ["mint", "lime"].map { parent.make("Ingredient", ["name": $0]) }
            drink.setValue(Set(made), forKey: "ingredients")
            try parent.save()
            parent.reset()
        }
        let child = Family.child(of: parent)
        try child.performAndWait {
            let drink = try #require(try child.all("Drink").first)
            let mint = try #require(drink.objects("ingredients").first { $0.string("name") == "mint" })
            drink.mutableSetValue(forKey: "ingredients").remove(mint)
            try child.save()
        }
        try parent.performAndWait { try parent.save() }
        let reader = container.newBackgroundContext()
        try reader.performAndWait {
            let drink = try #require(try reader.all("Drink").first)
            #expect(drink.objects("ingredients").map { $0.string("name") } == ["lime"])
        }
    }

    @Test("What the parent changes in new objects before it saves them reaches the child with that save")
    func changedAbove() throws {
        let child = family.child
        child.automaticallyMergesChangesFromParent = true
        let (author, book, tag) = try child.performAndWait {
            let made = (child.make("Author", ["name": "A"]), child.make("Book"), child.make("Tag"))
            try child.save()
            #expect(made.0.objects("books").isEmpty && made.1.objects("tags").isEmpty)
            return made
        }
        let parent = family.parent
        try parent.performAndWait {
            let book = try #require(try parent.all("Book").first)
            book.setValue("Emma", forKey: "title")
            book.setValue(try parent.all("Author").first, forKey: "author")
            book.setValue(Set(try parent.all("Tag")), forKey: "tags")
            try parent.save()
        }
        child.performAndWait {
            #expect(book.string("title") == "Emma")
            #expect(author.objects("books") == [book])
            #expect(book.objects("tags") == [tag] && tag.objects("books") == [book])
        }
    }
}
