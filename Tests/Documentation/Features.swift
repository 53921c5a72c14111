// What the page speaks of without showing it.
import Pippin

enum V1 {
    struct Person: CoreModel {
        let id: Int
        var first: String
    }
}

enum V2 {
    struct Person: CoreModel {
        let id: Int
        var first: String
        var last: String

        static var schema: Schema<Person> { Schema(.defaultValue(\.last, "")) }
    }
}

struct Person: CoreModel {
    let id: Int
    var fullName: String
}

let manager = PersistenceManager(models: Person.self)
var progress: Progress { Progress(totalUnitCount: 1) }
