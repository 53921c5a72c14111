import CoreData
import CoreDataModel
import Testing

@Suite("Containers of one name")
struct SharedModelTests {
    private func model(_ names: String..., userInfo: String? = nil) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = names.map { name in
            let entity = Library.entity(name, [Library.attribute("title", .stringAttributeType)])
            if let userInfo { entity.userInfo = ["note": userInfo] }
            return entity
        }
        return model
    }

    @Test("have one model while its file says the same, which no longer changes")
    func same() {
        let first = SharedModels.model(model("Book"), at: "/models/Same.momd")
        #expect(SharedModels.model(model("Book"), at: "/models/Same.momd") === first)
        #expect(first.isFrozen)
    }

    @Test("have another model once its file says something else, were it in the user info alone")
    func changed() {
        let first = SharedModels.model(model("Book"), at: "/models/Changed.momd")
        let second = SharedModels.model(model("Book", "Author"), at: "/models/Changed.momd")
        let third = SharedModels.model(model("Book", "Author", userInfo: "new"), at: "/models/Changed.momd")
        #expect(second !== first && third !== second)
        #expect(second.entities.count == 2)
        #expect(third.entities.first?.userInfo?["note"] as? String == "new")
    }

    @Test("do not share the model of another file")
    func otherFile() {
        let first = SharedModels.model(model("Book"), at: "/models/One.momd")
        #expect(SharedModels.model(model("Book"), at: "/models/Two.momd") !== first)
    }

    @Test("A file whose fetch requests changed has another model")
    func templates() {
        func model(limit: Int) -> NSManagedObjectModel {
            let made = self.model("Book")
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            request.fetchLimit = limit
            made.setFetchRequestTemplate(request, forName: "some")
            return made
        }
        let first = SharedModels.model(model(limit: 3), at: "/models/Templates.momd")
        #expect(SharedModels.model(model(limit: 3), at: "/models/Templates.momd") === first)
        let second = SharedModels.model(model(limit: 5), at: "/models/Templates.momd")
        #expect(second.fetchRequestTemplate(forName: "some")?.fetchLimit == 5)
    }
}
