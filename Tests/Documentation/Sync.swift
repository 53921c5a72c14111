import Foundation

let url = URL(fileURLWithPath: "/tmp/books.sqlite")
