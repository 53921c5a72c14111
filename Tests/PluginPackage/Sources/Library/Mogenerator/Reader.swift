// swift-format-ignore-file
import CoreData
import Foundation

open class Reader: _Reader {
    // Custom logic goes here.
}
