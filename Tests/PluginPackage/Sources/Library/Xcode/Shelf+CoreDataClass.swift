// swift-format-ignore-file
import CoreData
import Foundation

public class Shelf: NSManagedObject {

}
