// Finds what a reader cannot see in the notebook in front. Returns { texts, pictures, complaints }: how many texts and
// pictures it looked at, and a line for each that is unreadable, cut off or wider than its pane.
async () => {
  // WCAG 2.1, criterion 1.4.3 (level AA): 4.5 to 1; 3 to 1 for text of 24 px, or 18.66 px and bold.
  const NORMAL = 4.5;
  const LARGE = 3;
  const SLACK = 1.5; // px: positions are fractions

  const panel = window.jupyterapp.shell.currentWidget;
  const pane = panel.content.node;
  const complaints = [];
  let texts = 0;
  let pictures = 0;

  // Any CSS colour as [red, green, blue, alpha], by way of a pixel: it may be rgb(), oklab() or a name.
  const brush = Object.assign(document.createElement("canvas"), { width: 1, height: 1 })
    .getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) {
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = colour;
      brush.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = (top, below) => below.map((value, i) => (i < 3 ? top[3] * top[i] + (1 - top[3]) * value : 1));
  const background = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      layers.push(rgba(getComputedStyle(at).backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reduceRight((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const opacity = (element) => {
    let product = 1;
    for (let at = element; at && at !== pane; at = at.parentElement) product *= Number(getComputedStyle(at).opacity);
    return product;
  };
  const luminance = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };

  // Whether an element that ends at `right` can be brought into view: it lies in its area, or one around it scrolls.
  const reachable = (element, right, area) => {
    for (let at = element; at && at !== area.parentElement; at = at.parentElement) {
      const overflow = getComputedStyle(at).overflowX;
      if (["auto", "scroll"].includes(overflow)) return true;
      if (["hidden", "clip"].includes(overflow) && right > at.getBoundingClientRect().right + SLACK) return false;
    }
    return right <= area.getBoundingClientRect().right + SLACK;
  };
  const short = (text) => text.trim().replace(/\s+/g, " ").slice(0, 50);

  const lookAtText = (node, area, where) => {
    const element = node.parentElement;
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 1 && box.height > 1);
    const style = getComputedStyle(element);
    if (!boxes.length || style.visibility === "hidden") return;
    texts += 1;
    const below = background(element);
    const drawn = element instanceof SVGElement; // has a scale and a colour of its own
    const ink = rgba(drawn ? style.fill : style.color);
    const seen = over([...ink.slice(0, 3), ink[3] * opacity(element)], below);
    const size = drawn ? boxes[0].height / 1.2 : parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = contrast(seen, below);
    if (ratio < (large ? LARGE : NORMAL)) {
      complaints.push(`${where}: contrast ${ratio.toFixed(2)}, ${drawn ? style.fill : style.color} on rgb(${below.slice(0, 3).map(Math.round)}): ${short(node.data)}`);
    }
    if (size < 9) complaints.push(`${where}: letters of ${size} px: ${short(node.data)}`);
    const right = Math.max(...boxes.map((box) => box.right));
    if (!reachable(element, right, area)) complaints.push(`${where}: cut off: ${short(node.data)}`);
  };

  const lookAtPicture = async (picture, area, where) => {
    pictures += 1;
    try {
      await picture.decode();
    } catch {
      complaints.push(`${where}: a picture that does not load`);
      return;
    }
    const [box, edge] = [picture.getBoundingClientRect(), area.getBoundingClientRect()];
    if (box.width < 100) complaints.push(`${where}: a picture of ${box.width} px`);
    if (box.right > edge.right + SLACK) {
      complaints.push(`${where}: a picture ${Math.round(box.right - edge.right)} px wider than its pane`);
    }
    // Dark letters on nothing are unreadable in the dark theme.
    const corner = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
    corner.drawImage(picture, 0, 0, 1, 1, 0, 0, 1, 1);
    if (corner.getImageData(0, 0, 1, 1).data[3] < 255) complaints.push(`${where}: a picture without a ground of its own`);
  };

  for (const [number, cell] of panel.content.widgets.entries()) {
    const areas = [...cell.node.querySelectorAll(".jp-OutputArea-output, .jp-MarkdownOutput")];
    for (const area of areas) {
      const where = `cell ${number}`;
      for (const details of area.querySelectorAll("details")) details.open = true;
      const walker = document.createTreeWalker(area, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const node = walker.currentNode;
        // MathJax keeps a copy of each formula for screen readers beside the one that is drawn.
        if (node.data.trim() && !node.parentElement.closest("mjx-container, script, style")) lookAtText(node, area, where);
      }
      for (const formula of area.querySelectorAll("mjx-container")) {
        if (!reachable(formula, formula.getBoundingClientRect().right, area)) complaints.push(`${where}: a formula is cut off`);
      }
      for (const picture of area.querySelectorAll("img")) await lookAtPicture(picture, area, where);
    }
  }
  return { texts, pictures, complaints };
};
