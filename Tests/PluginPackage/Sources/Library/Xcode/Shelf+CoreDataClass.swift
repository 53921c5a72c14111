import CoreData
import Foundation

public class Shelf: NSManagedObject {

}
