// What the page speaks of without showing it.
import CoreData
import Pippin

let books: [Book] = []
let file = URL(fileURLWithPath: "books.csv")
var progress: Progress { Progress(totalUnitCount: 1) }

func show(_ books: [Book]) {}

// What the plugin generates for the model.
class Novel: NSManagedObject {
    @nonobjc class func fetchRequest() -> NSFetchRequest<Novel> { NSFetchRequest(entityName: "Novel") }
}
