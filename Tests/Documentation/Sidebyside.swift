// What the page speaks of without showing it.
import Pippin

let url = URL(fileURLWithPath: "books.sqlite")

func show(_ books: [Book]) {}
